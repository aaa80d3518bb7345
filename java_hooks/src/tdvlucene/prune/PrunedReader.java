package tdvlucene.prune;

import org.apache.lucene.codecs.FieldsProducer;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterCodecReader;
import tdvlucene.common.Lucene;

/**
 * A segment with one field pruned, to be given to {@code IndexWriter.addIndexes}.
 *
 * <p>Overrides only what changes: the field's postings, norms and vectors, and its description
 * where frequencies are scaled. Stored fields, doc values, points and other fields come from the
 * segment's own readers, so that a merge copies them in bulk. It serves merges only: terms can be
 * walked but not sought.
 */
final class PrunedReader extends FilterCodecReader {
  private final FieldInfos infos;
  private final Pruning pruning;

  /** @param in the segment, or the segment with other fields pruned already */
  PrunedReader(CodecReader in, Pruning pruning) {
    super(in);
    this.infos = describe(in.getFieldInfos(), pruning);
    this.pruning = pruning;
  }

  private static FieldInfos describe(FieldInfos before, Pruning pruning) {
    FieldInfo[] described = new FieldInfo[before.size()];
    int next = 0;
    for (FieldInfo info : before) {
      boolean pruned = info.name.equals(pruning.field()) && !pruning.rule().keepsFrequencies();
      // Lucene allows a frequency other than the number of positions only where there are none.
      described[next++] = pruned ? Lucene.withoutPositions(info) : info;
    }
    return new FieldInfos(described);
  }

  @Override
  public FieldInfos getFieldInfos() {
    return infos;
  }

  @Override
  public FieldsProducer getPostingsReader() {
    FieldsProducer postings = in.getPostingsReader();
    return postings == null ? null : new PrunedFields(postings, pruning);
  }

  @Override
  public NormsProducer getNormsReader() {
    NormsProducer norms = in.getNormsReader();
    return norms == null ? null : new PrunedNorms(norms, pruning);
  }

  @Override
  public TermVectorsReader getTermVectorsReader() {
    TermVectorsReader vectors = in.getTermVectorsReader();
    FieldInfo info = in.getFieldInfos().fieldInfo(pruning.field());
    if (vectors == null || info == null || !Lucene.hasTermVectors(info)) {
      return vectors;
    }
    return new PrunedVectors(vectors, pruning);
  }

  @Override
  public CacheHelper getCoreCacheHelper() {
    return null; // the content differs from the segment's: nothing cached for it may be used
  }

  @Override
  public CacheHelper getReaderCacheHelper() {
    return null;
  }
}
