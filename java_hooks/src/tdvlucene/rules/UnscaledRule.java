package tdvlucene.rules;

/**
 * Drops the terms whose TDV is 0 and keeps the frequencies of all others.
 *
 * @param table the TDVs; only whether they are 0 counts
 */
public record UnscaledRule(TermTable table) implements PostingRule {
  @Override
  public boolean drops(int term) {
    return table.tdv(term) == 0;
  }

  @Override
  public int freq(int term, int tf, int first, int length) {
    return tf;
  }
}
