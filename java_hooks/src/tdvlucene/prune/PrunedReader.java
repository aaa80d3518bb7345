package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.codecs.FieldsProducer;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterLeafReader.FilterTerms;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.FilterNumericDocValues;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SlowCodecReaderWrapper;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import tdvlucene.common.Lucene;
import tdvlucene.rules.PlannedField;

/**
 * A segment with one field pruned, to be given to {@code IndexWriter.addIndexes}.
 *
 * <p>Overrides only what changes: the field's postings, norms and vectors, and its description
 * where frequencies are scaled. Stored fields, doc values, points and other fields come from the
 * segment's own readers, so that a merge copies them in bulk. It serves merges only: terms can be
 * walked but not sought. Nor does a merge compare the checksums of its postings and norms.
 */
final class PrunedReader extends FilterCodecReader {
  private final FieldInfos infos;
  private final Pruning pruning;

  /** Makes of new terms and norms what a merge reads. */
  private final CodecReader ofView;

  /** @param in the segment, or the segment with other fields pruned already */
  PrunedReader(CodecReader in, Pruning pruning) throws IOException {
    super(in);
    this.infos = describe(in.getFieldInfos(), pruning);
    this.pruning = pruning;
    this.ofView = SlowCodecReaderWrapper.wrap(new View());
  }

  private static FieldInfos describe(FieldInfos before, Pruning pruning) {
    PlannedField target = pruning.target();
    List<FieldInfo> described = new ArrayList<>();
    int last = 0;
    for (FieldInfo info : before) {
      boolean pruned = info.name.equals(target.field) && !target.rule.keepsFrequencies();
      // Lucene allows a frequency other than the number of positions only where there are none.
      described.add(pruned ? Lucene.withoutPositions(info) : info);
      last = Math.max(last, info.number);
    }
    if (target.isNew() && before.fieldInfo(target.source) != null) {
      described.add(target.newField(before.fieldInfo(target.source), last + 1));
    }
    return new FieldInfos(described.toArray(FieldInfo[]::new));
  }

  @Override
  public FieldInfos getFieldInfos() {
    return infos;
  }

  @Override
  public FieldsProducer getPostingsReader() {
    return ofView.getPostingsReader();
  }

  @Override
  public NormsProducer getNormsReader() {
    return ofView.getNormsReader();
  }

  @Override
  public TermVectorsReader getTermVectorsReader() {
    TermVectorsReader vectors = in.getTermVectorsReader();
    FieldInfo info = in.getFieldInfos().fieldInfo(pruning.target().source);
    if (vectors == null || info == null || pruning.target().isNew() || !Lucene.hasTermVectors(info)) {
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

  /** The segment, of which only terms and norms are read. */
  private final class View extends FilterLeafReader {
    private final PlannedField target = pruning.target();

    private View() {
      super(PrunedReader.this.in);
    }

    @Override
    public FieldInfos getFieldInfos() {
      return infos;
    }

    /** Whoever prunes has compared checksums. */
    @Override
    public void checkIntegrity() {}

    @Override
    public Terms terms(String field) throws IOException {
      if (!field.equals(target.field)) {
        return in.terms(field);
      }
      Terms terms = in.terms(target.source);
      if (terms == null) {
        return null;
      }
      // The statistics are those of the source: a merge counts its own and reads none of them.
      return new PrunedTerms(terms, pruning) {
        @Override
        public TermsEnum iterator() throws IOException {
          return new PrunedPostings(in.iterator(), pruning);
        }
      };
    }

    /**
     * Norms of the new document lengths, which a merge copies and never computes. Documents that had
     * a norm keep one: 0 when no term is left, as for an empty text.
     */
    @Override
    public NumericDocValues getNormValues(String field) throws IOException {
      if (!field.equals(target.field)) {
        return in.getNormValues(field);
      }
      return new FilterNumericDocValues(in.getNormValues(target.source)) {
        @Override
        public long longValue() throws IOException {
          int doc = docID();
          return target.norm(
              in.longValue(), pruning.tokens(), doc, pruning.newLengths()[doc]);
        }
      };
    }

    @Override
    public CacheHelper getCoreCacheHelper() {
      return null;
    }

    @Override
    public CacheHelper getReaderCacheHelper() {
      return null;
    }
  }

  /** Terms of postings or of a vector, which have positions only where frequencies stay. */
  abstract static class PrunedTerms extends FilterTerms {
    private final boolean whole;

    PrunedTerms(Terms in, Pruning pruning) {
      super(in);
      this.whole = pruning.target().rule.keepsFrequencies();
    }

    @Override
    public boolean hasPositions() {
      return whole && in.hasPositions();
    }

    @Override
    public boolean hasOffsets() {
      return whole && in.hasOffsets();
    }

    @Override
    public boolean hasPayloads() {
      return whole && in.hasPayloads();
    }
  }
}
