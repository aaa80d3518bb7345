package tdvlucene.rules;

/** Drops the terms whose TDV is 0 and keeps the frequencies of all others. */
public final class UnscaledRule implements PostingRule {
  private final float[] tdv;

  /** @param table the TDVs; only whether they are 0 counts */
  public UnscaledRule(TermTable table) {
    this.tdv = table.tdv();
  }

  @Override
  public boolean drops(int term) {
    return tdv[term] == 0;
  }

  @Override
  public int freq(int term, int tf, int first, int length) {
    return tf;
  }
}
