package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.FilterLeafReader.FilterFields;
import org.apache.lucene.index.FilterLeafReader.FilterTermsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.BytesRefHash;
import tdvlucene.common.TermText;
import tdvlucene.common.UserException;
import tdvlucene.rules.PlannedField;

/**
 * Term vectors that agree with the pruned postings; RM3 and Rocchio read them.
 *
 * <p>Where frequencies are scaled, positions and offsets are dropped, as they are from the
 * postings. A document left without a term has no vector of the field.
 */
final class PrunedVectors extends TermVectorsReader {
  private final TermVectorsReader in;
  private final Pruning pruning;

  /** New frequency of each term of the current document's vector. */
  private int[] freqs = new int[0];

  PrunedVectors(TermVectorsReader in, Pruning pruning) {
    this.in = in;
    this.pruning = pruning;
  }

  @Override
  public Fields get(int doc) throws IOException {
    Fields fields = in.get(doc);
    Terms terms = fields == null ? null : fields.terms(pruning.target().field);
    if (terms == null) {
      return fields;
    }
    int kept = readFreqs(terms, doc);
    return kept == 0 && fields.size() == 1 ? null : new PrunedVectorFields(fields, terms, kept);
  }

  private int readFreqs(Terms terms, int doc) throws IOException {
    int kept = 0;
    int next = 0;
    BytesRefHash known = pruning.target().rule.table().terms();
    TermsEnum each = terms.iterator();
    for (BytesRef term = each.next(); term != null; term = each.next()) {
      freqs = ArrayUtil.grow(freqs, next + 1);
      freqs[next] = newFreq(known.find(term), each, doc);
      kept += freqs[next++] > 0 ? 1 : 0;
    }
    pruning.job().advance(kept);
    return kept;
  }

  private int newFreq(int number, TermsEnum each, int doc) throws IOException {
    if (number < 0) {
      throw UserException.unlessDamaged(
          "the index is damaged: the vector of document " + doc + " in segment "
              + pruning.segment().name() + " has the term " + TermText.show(each.term())
              + ", which the field's postings lack");
    }
    PlannedField target = pruning.target();
    if (target.rule.drops(number)) {
      return 0;
    }
    int tf = Math.toIntExact(each.totalTermFreq());
    return pruning.freq(number, tf, target.first(each), doc);
  }

  @Override
  public void checkIntegrity() throws IOException {
    in.checkIntegrity();
  }

  @Override
  public TermVectorsReader clone() {
    return new PrunedVectors(in.clone(), pruning);
  }

  @Override
  public TermVectorsReader getMergeInstance() {
    return new PrunedVectors(in.getMergeInstance(), pruning);
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  /** One document's vectors; valid until the next document is read. */
  private final class PrunedVectorFields extends FilterFields {
    private final Terms pruned;

    private PrunedVectorFields(Fields in, Terms terms, int kept) {
      super(in);
      this.pruned = kept == 0 ? null : pruned(terms, kept);
    }

    @Override
    public Iterator<String> iterator() {
      List<String> names = new ArrayList<>();
      in.forEach(names::add);
      names.removeIf(name -> pruned == null && name.equals(pruning.target().field));
      return names.iterator();
    }

    @Override
    public Terms terms(String field) throws IOException {
      return field.equals(pruning.target().field) ? pruned : in.terms(field);
    }

    @Override
    public int size() {
      return pruned != null ? in.size() : in.size() - 1;
    }
  }

  private Terms pruned(Terms terms, int kept) {
    return new PrunedReader.PrunedTerms(terms, pruning) {
      @Override
      public TermsEnum iterator() throws IOException {
        return new PrunedVectorTermsEnum(in.iterator());
      }

      @Override
      public long size() {
        return kept;
      }
    };
  }

  private final class PrunedVectorTermsEnum extends FilterTermsEnum {
    private int position = -1;

    private PrunedVectorTermsEnum(TermsEnum in) {
      super(in);
    }

    @Override
    public BytesRef next() throws IOException {
      BytesRef term = in.next();
      position++;
      while (term != null && freqs[position] == 0) {
        term = in.next();
        position++;
      }
      return term;
    }

    @Override
    public long totalTermFreq() {
      return freqs[position];
    }
  }
}
