package tdvlucene.rules;

import tdvlucene.common.UserException;

/**
 * Makes each frequency {@code max(1, rint(scale * tf * tdv))}; only terms with a TDV of 0 are
 * dropped.
 *
 * <p>In double precision and rounded half to even, as {@code tdv_lucene.simulation.quantisation} has
 * it: the two must agree on every posting. Where the table has a {@link Boost}, tf is
 * the boosted frequency.
 *
 * @param table the TDVs; finite and not negative
 * @param scale larger than 0
 */
public record ScaledRule(TermTable table, double scale) implements PostingRule {
  @Override
  public boolean drops(int term) {
    return table.tdv(term) == 0;
  }

  @Override
  public int freq(int term, int tf, int first, int length) {
    double freq = Math.rint(scale * table.boost().apply(tf, first) * table.tdv(term));
    if (freq > Integer.MAX_VALUE) {
      throw UserException.unlessDamaged(
          "scale " + scale + " x tf " + tf + " x TDV " + table.tdv(term) + " of term number " + term
              + " exceeds Lucene's largest frequency " + Integer.MAX_VALUE
              + ": use a smaller " + UserException.argument("scale"));
    }
    return Math.max(1, (int) freq);
  }

  @Override
  public boolean keepsFrequencies() {
    return false;
  }

  @Override
  public boolean readsPositions() {
    return table.boost().readsPositions();
  }
}
