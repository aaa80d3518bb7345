package tdvlucene.rules;

import tdvlucene.common.UserException;

/**
 * Decides by the TDV of a posting's term.
 *
 * <p>Drops the terms with a TDV of 0. The frequencies of the others stay, or become {@code max(1,
 * rint(scale * tf * tdv))}, in double precision and rounded half to even; tf is the boosted
 * frequency where the table has a {@link Boost}.
 *
 * <p>A table with least saturations also drops postings that add little to a BM25 score: those whose
 * saturation {@code tf / (tf + K)} is below their term's. K is BM25's length norm of the length before
 * pruning, {@code k1 (1 - b + b length / avgdl)}. It is computed without a division, in double
 * precision and of the tf that a boost of its own gives.
 *
 * <p>The Python module {@code tdv_lucene.simulation.quantisation} and the class {@code PostingCut}
 * must agree with it on every posting.
 *
 * @param scale larger than 0; or 0 to keep frequencies
 * @param fixed k1 (1 - b), where the table has least saturations
 * @param perToken k1 b / avgdl, likewise
 * @param lengthByPostings see {@link PostingRule#lengthByPostings}
 */
public record TermRule(
    TermTable table, double scale, double fixed, double perToken, boolean lengthByPostings)
    implements PostingRule {

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

  @Override
  public boolean drops(int term) {
    return table.tdv(term) == 0;
  }

  @Override
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

  @Override
  public boolean keepsFrequencies() {
    return scale == 0;
  }

  @Override
  public boolean readsLengths() {
    return table.leastSaturation != null;
  }

  @Override
  public boolean readsPositions() {
    return readsLengths() && table.saturationBoost.readsPositions()
        || scale != 0 && table.boost.readsPositions();
  }
}
