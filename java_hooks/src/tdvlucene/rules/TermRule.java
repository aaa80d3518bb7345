package tdvlucene.rules;

import tdvlucene.common.UserException;

/**
 * Decides the new frequency of a posting by the TDV of its term; called once for each posting.
 *
 * <p>Drops the terms with a TDV of 0. The frequencies of the others stay, or become {@code max(1,
 * rint(scale * tf * tdv))}, in double precision and rounded half to even; tf is the boosted
 * frequency where the table has a first-position boost.
 *
 * <p>A table with least saturations also drops postings that add little to a BM25 score: those whose
 * saturation {@code tf / (tf + K)} is below their term's. K is BM25's length norm of the length before
 * pruning, {@code k1 (1 - b + b length / avgdl)}. It is computed without a division, in double
 * precision and of the tf that a boost of its own gives.
 *
 * <p>The Python functions {@code ranking.postings.stays} and those of {@code simulation.collection}
 * must agree with it on every posting.
 *
 * @param table null where all terms stay
 * @param scale larger than 0; or 0 to keep frequencies
 * @param fixed k1 (1 - b), where the table has least saturations
 * @param perToken k1 b / avgdl, likewise
 * @param lengthByPostings whether a document's length is, in an impact index, its largest weight
 *     times the root of the number of its postings
 */
public record TermRule(
    TermTable table, double scale, double fixed, double perToken, boolean lengthByPostings) {
  /** Leaves everything as it is. */
  public static final TermRule KEEP_ALL = new TermRule(null, 0, 0, 0, false);

  /** A position nobody asked for; boosts treat it as the last. */
  public static final int UNKNOWN = -1;

  /**
   * A factor of a frequency: {@code factors[first]} by the term's first position in the document, or
   * {@code factors[tf]} in an impact index, whose frequencies are weights. The last factor also serves
   * all that is larger. One product of floats, as in the Python classes FirstPositionBoost and
   * WeightPower.
   *
   * @param factors at least one
   */
  record Boost(float[] factors, boolean byWeight) {
    /** Frequencies stay as they are. */
    static final Boost NONE = new Boost(new float[] {1}, false);

    boolean readsPositions() {
      return this != NONE && !byWeight;
    }

    double apply(int tf, int first) {
      if (this == NONE) {
        return tf;
      }
      int at = byWeight ? tf : first;
      int last = factors.length - 1;
      return tf * factors[at < 0 || at > last ? last : at];
    }
  }

  /** Whether all postings of the term are dropped, so that none need be read. */
  public boolean drops(int term) {
    return table != null && table.tdv(term) == 0;
  }

  /**
   * The posting's new frequency, 0 to drop it; not asked for terms that {@link #drops} drops.
   *
   * @param term the term's number in the vocabulary (byte order)
   * @param tf its frequency in the document, at least 1
   * @param first the term's first position in the document; {@link #UNKNOWN} unless
   *     {@link #readsPositions}
   * @param length tokens of the document in this field as its norm tells them: rounded down to
   *     four significant bits where norms are Lucene's bytes, exact where they are exact or the
   *     field has none; in an impact index its largest weight, see {@link #lengthByPostings}; 0
   *     unless {@link #readsLengths}
   */
  public int freq(int term, int tf, int first, int length) {
    if (readsLengths()) {
      double boosted = table.saturationBoost.apply(tf, first);
      if (boosted < table.leastSaturation[term] * (boosted + (fixed + perToken * length))) {
        return 0;
      }
    }
    if (scale == 0) {
      return tf;
    }
    double freq = Math.rint(scale * table.boost.apply(tf, first) * table.tdv(term));
    if (freq > Integer.MAX_VALUE) {
      throw UserException.unlessDamaged(
          "scale " + scale + " x tf " + tf + " x TDV " + table.tdv(term) + " of term number " + term
              + " exceeds Lucene's largest frequency " + Integer.MAX_VALUE
              + ": use a smaller scale");
    }
    return Math.max(1, (int) freq);
  }

  /** Whether {@link #freq} gives only {@code tf} or 0: then positions and offsets stay true. */
  public boolean keepsFrequencies() {
    return scale == 0;
  }

  /** Whether {@link #freq} reads lengths: one more pass where the field has no norms. */
  public boolean readsLengths() {
    return table != null && table.leastSaturation != null;
  }

  /** Whether {@link #freq} reads first positions, which the field's postings must then have. */
  public boolean readsPositions() {
    return readsLengths() && table.saturationBoost.readsPositions()
        || scale != 0 && table.boost.readsPositions();
  }
}
