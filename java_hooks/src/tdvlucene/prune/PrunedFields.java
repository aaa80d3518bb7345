package tdvlucene.prune;

import java.io.IOException;
import java.util.Iterator;
import org.apache.lucene.codecs.FieldsProducer;
import org.apache.lucene.index.FilterLeafReader.FilterTerms;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;

/** A segment's postings, with one field pruned and the others as they are. */
final class PrunedFields extends FieldsProducer {
  private final FieldsProducer in;
  private final Pruning pruning;

  PrunedFields(FieldsProducer in, Pruning pruning) {
    this.in = in;
    this.pruning = pruning;
  }

  @Override
  public Iterator<String> iterator() {
    return in.iterator();
  }

  @Override
  public Terms terms(String field) throws IOException {
    Terms terms = in.terms(field);
    if (terms == null || !field.equals(pruning.field())) {
      return terms;
    }
    // The statistics are those of the source: a merge counts its own and reads none of them.
    return new PrunedTerms(terms, pruning) {
      @Override
      public TermsEnum iterator() throws IOException {
        return new PrunedTermsEnum(in.iterator(), pruning);
      }
    };
  }

  @Override
  public int size() {
    return in.size();
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

  /** Terms of postings or of a vector, which have positions only where frequencies stay. */
  abstract static class PrunedTerms extends FilterTerms {
    private final boolean whole;

    PrunedTerms(Terms in, Pruning pruning) {
      super(in);
      this.whole = pruning.rule().keepsFrequencies();
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
