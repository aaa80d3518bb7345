package tdvlucene.index;

import java.io.IOException;
import org.apache.lucene.index.PostingsEnum;

/**
 * What a posting's frequency counts for, by where in its document the term stands first.
 *
 * <p>{@code tf * factors[first]}, the last factor also for all places behind it: one product of
 * floats, as {@code tdv_lucene._lead} has it; the two must agree on every posting.
 */
final class Lead {
  /** Frequencies count for what they are. */
  static final Lead NONE = new Lead(new float[] {1});

  /** A place that is not known: it counts as the last. */
  static final int UNKNOWN = -1;

  private final float[] factors;

  /** @param factors at least one, by position */
  Lead(float[] factors) {
    this.factors = factors;
  }

  /** A posting's frequency times the factor of its place; itself, exactly, for {@link #NONE}. */
  double weigh(int tf, int first) {
    if (this == NONE) {
      return tf;
    }
    int last = factors.length - 1;
    return tf * factors[first < 0 || first > last ? last : first];
  }

  /** Where the current document has its term first; moves {@code postings} there if it is wanted. */
  static int first(PostingsEnum postings, boolean wanted) throws IOException {
    return wanted ? postings.nextPosition() : UNKNOWN;
  }
}
