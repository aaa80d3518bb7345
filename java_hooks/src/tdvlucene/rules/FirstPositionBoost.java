package tdvlucene.rules;

/**
 * The first-position boost: a frequency counts for more or less depending on the term's first
 * position in the document.
 *
 * <p>The boosted frequency is {@code tf * factors[first]}, where the last factor also serves all
 * later positions: one product of floats, as in the Python class of this name. The two must agree
 * on every posting.
 */
final class FirstPositionBoost {
  /** No boost: frequencies stay as they are. */
  static final FirstPositionBoost NONE = new FirstPositionBoost(new float[] {1});

  private final float[] factors;

  /** @param factors at least one, by position */
  FirstPositionBoost(float[] factors) {
    this.factors = factors;
  }

  /** A posting's frequency times the factor of its first position; exactly tf for {@link #NONE}. */
  double apply(int tf, int first) {
    if (this == NONE) {
      return tf;
    }
    int last = factors.length - 1;
    return tf * factors[first < 0 || first > last ? last : first];
  }
}
