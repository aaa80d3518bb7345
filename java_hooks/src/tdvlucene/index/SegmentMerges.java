package tdvlucene.index;

import java.util.Map;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.MergeTrigger;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;

/** Makes one segment of each reader added, in order, or one of all; and no merge otherwise. */
final class SegmentMerges extends MergePolicy {
  private final boolean oneSegment;

  SegmentMerges(boolean oneSegment) {
    this.oneSegment = oneSegment;
  }

  @Override
  public MergeSpecification findMerges(CodecReader... readers) {
    MergeSpecification merges = new MergeSpecification();
    if (oneSegment && readers.length > 0) {
      merges.add(new OneMerge(readers));
      return merges;
    }
    for (CodecReader reader : readers) {
      merges.add(new OneMerge(reader));
    }
    return merges;
  }

  @Override
  public MergeSpecification findMerges(
      MergeTrigger trigger, SegmentInfos infos, MergeContext context) {
    return null;
  }

  @Override
  public MergeSpecification findForcedMerges(
      SegmentInfos infos, int most, Map<SegmentCommitInfo, Boolean> asked, MergeContext context) {
    return null;
  }

  @Override
  public MergeSpecification findForcedDeletesMerges(SegmentInfos infos, MergeContext context) {
    return null;
  }

  /** Never: an index that is not written to gains nothing, and its bytes by kind stay visible. */
  @Override
  public boolean useCompoundFile(
      SegmentInfos infos, SegmentCommitInfo merged, MergeContext context) {
    return false;
  }
}
