package tdvlucene.extract;

import java.io.IOException;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.IndexPostings;

/**
 * A piece of a term-document matrix on its way from the postings to the files.
 *
 * <p>Holds either some terms with all their postings, or a stretch of one long list. It is reused
 * and grows to the largest piece, whose size {@link MatrixPlan} bounds.
 */
final class MatrixChunk {
  /** Terms after one another, and where each ends. */
  byte[] text = new byte[0];

  int[] textEnds = new int[0];

  /** Where each term's postings end in {@link #rows} and {@link #freqs}. */
  int[] ends = new int[0];

  int[] rows = new int[0];
  int[] freqs = new int[0];

  /** Where documents have the term first; filled if it was asked for. */
  int[] firsts = new int[0];

  int terms;
  int postings;

  /** Whether this continues the term at which the chunk before stopped. */
  boolean continued;

  void clear(boolean continued) {
    this.continued = continued;
    terms = 0;
    postings = 0;
  }

  /** Adds a term without postings; they are to follow. */
  void addTerm(BytesRef term) {
    int before = terms == 0 ? 0 : textEnds[terms - 1];
    text = ArrayUtil.grow(text, before + term.length);
    System.arraycopy(term.bytes, term.offset, text, before, term.length);
    textEnds = ArrayUtil.grow(textEnds, terms + 1);
    ends = ArrayUtil.grow(ends, terms + 1);
    textEnds[terms] = before + term.length;
    terms++;
  }

  /** Reads documents {@code from} up to {@code to} of the term added last; all are numbered. */
  void read(
      IndexPostings in, DocumentNumbers live, boolean positions, int from, int to, int most)
      throws IOException {
    rows = ArrayUtil.grow(rows, postings + most);
    freqs = ArrayUtil.grow(freqs, postings + most);
    firsts = positions ? ArrayUtil.grow(firsts, postings + most) : firsts;
    for (int doc = from == 0 ? in.next() : in.advance(from); doc < to; doc = in.next()) {
      int row = live.of(doc);
      if (row >= 0) {
        rows[postings] = row;
        if (positions) {
          firsts[postings] = in.nextPosition();
        }
        freqs[postings++] = in.freq();
      }
    }
    ends[terms - 1] = postings;
  }
}
