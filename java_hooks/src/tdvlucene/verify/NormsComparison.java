package tdvlucene.verify;

import java.io.IOException;
import java.util.Objects;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.NumericDocValues;

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
    NumericDocValues old = MultiDocValues.getNormValues(source.reader, field);
    NumericDocValues found = MultiDocValues.getNormValues(pruned.reader, field);
    for (int number = 0; number < source.live.size(); number++) {
      Long before = norm(old, source.live.doc(number));
      Long present = norm(found, pruned.live.doc(number));
      String instead;
      if (before == null || present == null || lengths == null) {
        instead = Objects.equals(before, present) ? null : show(before);
      } else {
        instead = expected.insteadOf(present, lengths[number]);
      }
      if (instead != null) {
        throw new Difference("norm", instead, show(present))
            .at("segment", pruned.segmentOf(number))
            .at("field", field)
            .at("document", pruned.idOf(number));
      }
    }
  }

  private static Long norm(NumericDocValues norms, int doc) throws IOException {
    return norms != null && norms.advanceExact(doc) ? norms.longValue() : null;
  }

  private static String show(Long norm) {
    return Objects.toString(norm, "none");
  }
}
