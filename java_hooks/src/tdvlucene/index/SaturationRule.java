package tdvlucene.index;

/**
 * Drops the postings that add little to a score, and leaves the others to another rule.
 *
 * <p>A posting stays when {@code tf / (tf + K)} reaches its term's least saturation, where
 * {@code K = k1 (1 - b + b length / avgdl)} with the length before pruning. Written without a
 * division, in double precision and with tf as {@link Lead} counts it, as
 * {@code tdv_lucene._saturation} has it: the two must agree on
 * every posting.
 */
public final class SaturationRule implements PostingRule {
  private final PostingRule kept;
  private final float[] least;
  private final Lead lead;
  private final double fixed;
  private final double perToken;

  /**
   * @param kept what becomes of the postings that stay
   * @param values a table with the least saturation of each term
   * @param fixed k1 (1 - b)
   * @param perToken k1 b / avgdl
   */
  public SaturationRule(PostingRule kept, TermTable values, double fixed, double perToken) {
    this.kept = kept;
    this.least = values.leastSaturation();
    this.lead = values.lead();
    this.fixed = fixed;
    this.perToken = perToken;
  }

  @Override
  public boolean drops(int term) {
    return kept.drops(term);
  }

  @Override
  public int freq(int term, int tf, int first, int doc, int length) {
    double room = fixed + perToken * length;
    double counted = lead.weigh(tf, first);
    return counted < least[term] * (counted + room) ? 0 : kept.freq(term, tf, first, doc, length);
  }

  @Override
  public boolean keepsFrequencies() {
    return kept.keepsFrequencies();
  }

  @Override
  public boolean readsLengths() {
    return true;
  }

  @Override
  public boolean readsPositions() {
    return lead != Lead.NONE || kept.readsPositions();
  }
}
