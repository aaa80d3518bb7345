package tdvlucene.index;

/** Drops the terms whose value is 0 and leaves all other postings as they are. */
public final class GateRule implements PostingRule {
  private final float[] tdv;

  /** @param values the term values; only whether they are 0 counts */
  public GateRule(TermTable values) {
    this.tdv = values.tdv();
  }

  @Override
  public boolean drops(int term) {
    return tdv[term] == 0;
  }

  @Override
  public int freq(int term, int tf, int first, int doc, int length) {
    return tf;
  }

  @Override
  public boolean keepsFrequencies() {
    return true;
  }

  @Override
  public boolean readsLengths() {
    return false;
  }

  @Override
  public boolean readsPositions() {
    return false;
  }
}
