package tdvlucene.index;

import tdvlucene.common.UserException;

/**
 * {@code rint(scale * tf * tdv)} in double precision: NumPy's {@code rint}, half to even. Where the
 * table says what places count for, tf is what {@link Lead} makes of it.
 */
public final class ScaledRule implements PostingRule {
  private final float[] tdv;
  private final Lead lead;
  private final double scale;

  /**
   * @param values the term values; finite and not negative
   * @param scale larger than 0
   */
  public ScaledRule(TermTable values, double scale) {
    this.tdv = values.tdv();
    this.lead = values.lead();
    this.scale = scale;
  }

  @Override
  public boolean drops(int term) {
    return tdv[term] == 0;
  }

  @Override
  public int freq(int term, int tf, int first, int doc, int length) {
    double freq = Math.rint(scale * lead.weigh(tf, first) * tdv[term]);
    if (freq > Integer.MAX_VALUE) {
      throw new UserException(
          "scale " + scale + " x tf " + tf + " x value " + tdv[term] + " of term number " + term
              + " exceeds Lucene's largest frequency " + Integer.MAX_VALUE
              + ": use a smaller --scale");
    }
    return (int) freq;
  }

  @Override
  public boolean keepsFrequencies() {
    return false;
  }

  @Override
  public boolean readsLengths() {
    return false;
  }

  @Override
  public boolean readsPositions() {
    return lead != Lead.NONE;
  }
}
