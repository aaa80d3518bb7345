package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.codecs.FieldsProducer;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterLeafReader.FilterTerms;
import org.apache.lucene.index.FilterNumericDocValues;
import org.apache.lucene.index.NumericDocValues;
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
    FieldsProducer postings = in.getPostingsReader();
    return postings == null ? null : new PrunedFields(postings, pruning);
  }

  @Override
  public NormsProducer getNormsReader() {
    NormsProducer norms = in.getNormsReader();
    FieldInfo source = in.getFieldInfos().fieldInfo(pruning.target().source);
    return norms == null ? null : new PrunedNorms(norms, source, pruning);
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

  /** Postings, with one field pruned and the others as they are. */
  private static final class PrunedFields extends FieldsProducer {
    private final FieldsProducer in;
    private final Pruning pruning;

    PrunedFields(FieldsProducer in, Pruning pruning) {
      this.in = in;
      this.pruning = pruning;
    }

    @Override
    public Iterator<String> iterator() {
      Set<String> fields = new TreeSet<>();
      in.forEach(fields::add);
      if (fields.contains(pruning.target().source)) {
        fields.add(pruning.target().field);
      }
      return fields.iterator();
    }

    @Override
    public Terms terms(String field) throws IOException {
      if (!field.equals(pruning.target().field)) {
        return in.terms(field);
      }
      Terms terms = in.terms(pruning.target().source);
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

    @Override
    public int size() {
      return -1; // unknown
    }

    @Override
    public void checkIntegrity() throws IOException {
      in.checkIntegrity();
    }

    @Override
    public FieldsProducer getMergeInstance() {
      return new PrunedFields(in.getMergeInstance(), pruning);
    }

    @Override
    public void close() throws IOException {
      in.close();
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

  /**
   * Norms of the new document lengths.
   *
   * <p>A merge copies norms and never recomputes them ({@code NormsConsumer.mergeNormsField}).
   * Documents that had a norm keep one: 0 when no term is left, as for an empty text.
   */
  private static final class PrunedNorms extends NormsProducer {
    private final NormsProducer in;
    private final FieldInfo source;
    private final Pruning pruning;

    /** @param source describes the source's field */
    PrunedNorms(NormsProducer in, FieldInfo source, Pruning pruning) {
      this.in = in;
      this.source = source;
      this.pruning = pruning;
    }

    @Override
    public NumericDocValues getNorms(FieldInfo info) throws IOException {
      if (!info.name.equals(pruning.target().field)) {
        return in.getNorms(info);
      }
      return new FilterNumericDocValues(in.getNorms(source)) {
        @Override
        public long longValue() {
          return pruning.target().norm(pruning.newLengths()[docID()]);
        }
      };
    }

    @Override
    public void checkIntegrity() throws IOException {
      in.checkIntegrity();
    }

    @Override
    public NormsProducer getMergeInstance() {
      return new PrunedNorms(in.getMergeInstance(), source, pruning);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
