package tdvlucene.rules;

/**
 * A frequency counts for more or less depending on the term's first position in the document, or in
 * an impact index, whose frequencies are weights, on itself.
 *
 * <p>The boosted frequency is {@code tf * factors[first]}, or {@code tf * factors[tf]}, where the
 * last factor also serves all that is larger: one product of floats, as in the Python classes
 * FirstPositionBoost and WeightPower. The two must agree on every posting.
 *
 * @param factors at least one, by first position or by frequency
 */
record Boost(float[] factors, boolean byWeight) {
  /** No boost: frequencies stay as they are. */
  static final Boost NONE = new Boost(new float[] {1}, false);

  /** Whether it asks for first positions. */
  boolean readsPositions() {
    return this != NONE && !byWeight;
  }

  /** A posting's frequency times its factor; exactly tf for {@link #NONE}. */
  double apply(int tf, int first) {
    if (this == NONE) {
      return tf;
    }
    int at = byWeight ? tf : first;
    int last = factors.length - 1;
    return tf * factors[at < 0 || at > last ? last : at];
  }
}
