package tdvlucene.verify;

import java.io.IOException;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.util.Bits;

/** Compares a field's norms with the source's, or with those of the new lengths. */
record NormsComparison(ComparedIndex source, ComparedIndex pruned, String field) {
  /** Judges the norm of a document by its length. */
  interface Expected {
    /** What the norm should be; null where it is right. */
    String insteadOf(long norm, int length);
  }

  /**
   * Compares all documents.
   *
   * @param lengths new tokens of each live document; null where norms are to stay, and then nothing
   *     is told by {@code expected}
   */
  void compare(Expected expected, int[] lengths) throws IOException {
    Norms found = new Norms();
    int number = 0;
    for (LeafReaderContext leaf : source.reader.leaves()) {
      NumericDocValues norms = leaf.reader().getNormValues(field);
      Bits live = leaf.reader().getLiveDocs();
      for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
        if (live == null || live.get(doc)) {
          Long before = norms != null && norms.advanceExact(doc) ? norms.longValue() : null;
          Long present = found.of(number);
          if (before == null || present == null || lengths == null) {
            compare(number, before, present);
          } else {
            require(number, expected.insteadOf(present, lengths[number]), present);
          }
          number++;
        }
      }
    }
  }

  private void compare(int number, Long expected, Long present) throws IOException {
    boolean equal = expected == null ? present == null : expected.equals(present);
    require(number, equal ? null : show(expected), present);
  }

  private void require(int number, String instead, Long present) throws IOException {
    if (instead != null) {
      throw new Difference("norm", instead, show(present))
          .at("segment", pruned.segmentOf(number))
          .at("field", field)
          .at("document", pruned.idOf(number));
    }
  }

  private static String show(Long norm) {
    return norm == null ? "none" : norm.toString();
  }

  /** The pruned index's norms, by ascending number. */
  private final class Norms {
    private LeafReaderContext leaf;
    private NumericDocValues norms;

    private Long of(int number) throws IOException {
      int doc = pruned.live.doc(number);
      if (leaf == null || doc >= leaf.docBase + leaf.reader().maxDoc()) {
        leaf = pruned.leafOf(doc);
        norms = leaf.reader().getNormValues(field);
      }
      return norms != null && norms.advanceExact(doc - leaf.docBase) ? norms.longValue() : null;
    }
  }
}
