package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterMergePolicy;
import org.apache.lucene.index.MergeScheduler;
import org.apache.lucene.index.MergeTrigger;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.index.SegmentReader;
import tdvlucene.common.Pool;

/**
 * Merges each added reader into a segment of its own, in order, or all into one; never anything
 * else.
 */
final class SegmentMerges extends FilterMergePolicy {
  private final boolean oneSegment;

  /** What each reader's segment is to say of where it comes from. */
  private final List<Origin> origins;

  /** The merges whose segment is compound in the source; all found before the first one runs. */
  private final List<OneMerge> compound = new ArrayList<>();

  /** @param origins of the segments that are added, in order */
  SegmentMerges(List<Origin> origins, boolean oneSegment) {
    super(NoMergePolicy.INSTANCE);
    this.origins = origins;
    this.oneSegment = oneSegment;
  }

  @Override
  public MergeSpecification findMerges(CodecReader... readers) {
    MergeSpecification merges = new MergeSpecification();
    if (oneSegment && readers.length > 0) {
      CodecReader[] live = withDocuments(readers);
      merges.add(new MarkedMerge(Origin.SEVERAL, live.length > 0 ? live : readers));
      return merges;
    }
    for (int i = 0; i < readers.length; i++) {
      OneMerge merge = new MarkedMerge(origins.get(i), readers[i]);
      merges.add(merge);
      if (isCompound(readers[i])) {
        compound.add(merge);
      }
    }
    return merges;
  }

  /** A merge whose segment says where it comes from. */
  private static final class MarkedMerge extends OneMerge {
    private final Origin origin;

    private MarkedMerge(Origin origin, CodecReader... readers) {
      super(readers);
      this.origin = origin;
    }

    @Override
    public void setMergeInfo(SegmentCommitInfo made) {
      super.setMergeInfo(made);
      origin.writeTo(made.info); // before Lucene writes the segment's description
    }
  }

  /** The others would leave their fields in the segment, without a document that has them. */
  private static CodecReader[] withDocuments(CodecReader[] readers) {
    return Arrays.stream(readers)
        .filter(reader -> reader.numDocs() > 0)
        .toArray(CodecReader[]::new);
  }

  /** As in the source; one segment of all is no compound, as Lucene itself would decide. */
  @Override
  public boolean useCompoundFile(
      SegmentInfos infos, SegmentCommitInfo merged, MergeContext context) {
    return compound.stream().anyMatch(merge -> merge.getMergeInfo() == merged);
  }

  private static boolean isCompound(CodecReader reader) {
    return FilterCodecReader.unwrap(reader) instanceof SegmentReader segment
        && segment.getSegmentInfo().info.getUseCompoundFile();
  }

  /**
   * Runs merges on a pool, the largest first, and waits for them.
   *
   * <p>{@code ConcurrentMergeScheduler} chooses its own number of threads, throttles writing, and
   * loses the stack of what failed.
   */
  static final class Scheduler extends MergeScheduler {
    private final Pool pool;

    Scheduler(Pool pool) {
      this.pool = pool;
    }

    @Override
    public void merge(MergeSource source, MergeTrigger trigger) throws IOException {
      List<OneMerge> merges = new ArrayList<>();
      for (OneMerge next = source.getNextMerge(); next != null; next = source.getNextMerge()) {
        merges.add(next);
      }
      merges.sort(Comparator.comparingInt(OneMerge::totalNumDocs).reversed());
      List<Pool.Task> tasks = new ArrayList<>();
      merges.forEach(merge -> tasks.add(() -> source.merge(merge)));
      pool.run(tasks);
    }

    @Override
    public void close() {}
  }
}
