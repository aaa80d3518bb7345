package tdvlucene.prune;

import java.util.Collections;
import java.util.Iterator;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.BytesRefHash;

/** One document's term vector of the pruned field, only terms and frequencies, in flat arrays. */
final class FlatVector extends Fields {
  private final String field;
  private final BytesRefHash texts;
  private final int[] terms;
  private final int[] freqs;
  private final int start;
  private final int end;

  /** The arrays from {@code start} up to {@code end}; term numbers ascending. */
  FlatVector(String field, BytesRefHash texts, int[] terms, int[] freqs, int start, int end) {
    this.field = field;
    this.texts = texts;
    this.terms = terms;
    this.freqs = freqs;
    this.start = start;
    this.end = end;
  }

  @Override
  public Iterator<String> iterator() {
    return Collections.singleton(field).iterator();
  }

  @Override
  public Terms terms(String name) {
    return name.equals(field) ? new VectorTerms() : null;
  }

  @Override
  public int size() {
    return 1;
  }

  private final class VectorTerms extends Terms {
    @Override
    public TermsEnum iterator() {
      return new VectorTermsEnum();
    }

    @Override
    public long size() {
      return end - start;
    }

    @Override
    public long getSumTotalTermFreq() {
      throw MergeTermsEnum.notForMerges();
    }

    @Override
    public long getSumDocFreq() {
      return size();
    }

    @Override
    public int getDocCount() {
      return 1;
    }

    @Override
    public boolean hasFreqs() {
      return true;
    }

    @Override
    public boolean hasPositions() {
      return false;
    }

    @Override
    public boolean hasOffsets() {
      return false;
    }

    @Override
    public boolean hasPayloads() {
      return false;
    }
  }

  private final class VectorTermsEnum extends MergeTermsEnum {
    private final BytesRef text = new BytesRef();
    private int at = start - 1;

    @Override
    public BytesRef next() {
      if (++at >= end) {
        return null;
      }
      texts.get(terms[at], text);
      return text;
    }

    @Override
    public BytesRef term() {
      return text;
    }

    @Override
    public long totalTermFreq() {
      return freqs[at];
    }

    @Override
    public int docFreq() {
      return 1;
    }

    @Override
    public PostingsEnum postings(PostingsEnum reuse, int flags) {
      throw MergeTermsEnum.notForMerges();
    }
  }
}
