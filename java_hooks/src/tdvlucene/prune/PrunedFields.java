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
    return terms == null || !field.equals(pruning.field()) ? terms : new PrunedTerms(terms);
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

  /** The statistics are those of the source: a merge counts its own and reads none of them. */
  private final class PrunedTerms extends FilterTerms {
    private PrunedTerms(Terms in) {
      super(in);
    }

    @Override
    public TermsEnum iterator() throws IOException {
      return new PrunedTermsEnum(in.iterator(), pruning, pruning.job()::advance);
    }

    @Override
    public boolean hasPositions() {
      return pruning.rule().keepsFrequencies() && in.hasPositions();
    }

    @Override
    public boolean hasOffsets() {
      return pruning.rule().keepsFrequencies() && in.hasOffsets();
    }

    @Override
    public boolean hasPayloads() {
      return pruning.rule().keepsFrequencies() && in.hasPayloads();
    }
  }
}
