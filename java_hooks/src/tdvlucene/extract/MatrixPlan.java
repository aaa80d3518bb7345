package tdvlucene.extract;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.FieldPostings;

/**
 * Cuts a field into pieces of bounded size, which threads read and one thread writes in order.
 *
 * <p>Walks the dictionary, whose document frequencies say how much there is to read. A piece is a
 * run of terms or, where one list is longer than a whole piece, that list's postings in a range of
 * documents. So a thread's buffer never depends on the size of the index.
 */
public final class MatrixPlan {
  /** Postings of a piece: large against the cost of seeking, 2 MB in memory. */
  static final int POSTINGS = 1 << 18;

  private static final int TERMS = 1 << 14;
  private static final int TEXT_BYTES = 1 << 20;

  private final FieldPostings each;
  private final int documents;
  private final int most;
  private BytesRef next;

  /** Where the next piece of the list {@link #next} begins; 0 at a list's start. */
  private int from;

  /**
   * @param documents live documents of the whole index
   * @param most postings of a piece
   */
  MatrixPlan(FieldPostings terms, int documents, int most) throws IOException {
    this.most = most;
    this.each = terms;
    this.documents = documents;
    this.next = each.nextTerm();
  }

  /** Terms at which a field can be cut into ranges of about as much to read; null has none. */
  public static List<BytesRef> cuts(FieldPostings terms) throws IOException {
    List<BytesRef> cuts = new ArrayList<>();
    MatrixPlan plan = new MatrixPlan(terms, 1, POSTINGS); // a long list is one piece
    plan.next();
    for (Piece piece = plan.next(); piece != null; piece = plan.next()) {
      cuts.add(piece.first);
    }
    return cuts;
  }

  /** Terms from {@code first} up to {@code stop} (null: the end), or documents of {@code first}. */
  record Piece(BytesRef first, BytesRef stop, int from, int to, int postings) {
    /** Whether this is a stretch of one list. */
    boolean isPart() {
      return stop == first;
    }
  }

  /** The next piece in order; null when there is none. */
  Piece next() throws IOException {
    if (next == null) {
      return null;
    }
    BytesRef first = BytesRef.deepCopyOf(next);
    if (from > 0 || each.docFreq() > most) {
      return part(first);
    }
    int postings = 0;
    int text = 0;
    for (int terms = 0; next != null && terms < TERMS && text < TEXT_BYTES; terms++) {
      if (postings + each.docFreq() > most) {
        break;
      }
      postings += each.docFreq();
      text += next.length;
      next = each.nextTerm();
    }
    BytesRef stop = next == null ? null : BytesRef.deepCopyOf(next);
    return new Piece(first, stop, 0, documents, postings);
  }

  private Piece part(BytesRef term) throws IOException {
    int start = from;
    int end = (int) Math.min((long) start + most, documents);
    from = end;
    if (end == documents) {
      from = 0;
      next = each.nextTerm();
    }
    return new Piece(term, term, start, end, end - start);
  }
}
