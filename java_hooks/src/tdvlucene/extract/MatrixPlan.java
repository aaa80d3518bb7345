package tdvlucene.extract;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.FieldPostings;

/**
 * Cuts a field into runs of terms with about as many postings, which threads read and one thread
 * writes in order.
 *
 * <p>Walks the dictionary, whose document frequencies say how much there is to read. A list that is
 * longer than a whole piece is a piece of its own.
 */
public final class MatrixPlan {
  /** Postings of a piece: large against the cost of seeking, 2 MB in memory. */
  static final int POSTINGS = 1 << 18;

  private static final int TERMS = 1 << 14;
  private static final int TEXT_BYTES = 1 << 20;

  private final FieldPostings each;
  private final int most;
  private BytesRef next;

  /** @param most postings of a piece of several terms */
  MatrixPlan(FieldPostings terms, int most) throws IOException {
    this.most = most;
    this.each = terms;
    this.next = each.nextTerm();
  }

  /** Terms at which a field can be cut into ranges of about as much to read; null has none. */
  public static List<BytesRef> cuts(FieldPostings terms) throws IOException {
    List<BytesRef> cuts = new ArrayList<>();
    MatrixPlan plan = new MatrixPlan(terms, POSTINGS);
    plan.next();
    for (Piece piece = plan.next(); piece != null; piece = plan.next()) {
      cuts.add(piece.first);
    }
    return cuts;
  }

  /**
   * Terms from {@code first} up to {@code stop} (null: the end).
   *
   * @param bytes of all terms
   * @param postings of all terms, those of deleted documents included
   */
  record Piece(BytesRef first, BytesRef stop, int terms, int bytes, int postings) {}

  /** The next piece in order; null when there is none. */
  Piece next() throws IOException {
    if (next == null) {
      return null;
    }
    BytesRef first = BytesRef.deepCopyOf(next);
    int terms = 0;
    int bytes = 0;
    int postings = 0;
    while (next != null
        && terms < TERMS
        && bytes < TEXT_BYTES
        && (terms == 0 || each.docFreq() <= most - postings)) {
      terms++;
      bytes += next.length;
      postings += each.docFreq();
      next = each.nextTerm();
    }
    BytesRef stop = next == null ? null : BytesRef.deepCopyOf(next);
    return new Piece(first, stop, terms, bytes, postings);
  }
}
