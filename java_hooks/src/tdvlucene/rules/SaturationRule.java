package tdvlucene.rules;

/**
 * Drops the postings that add little to a BM25 score, and leaves the others to another rule.
 *
 * <p>A posting stays if its saturation {@code tf / (tf + K)} is at least its term's least
 * saturation. K is BM25's length norm, {@code k1 (1 - b + b length / avgdl)}, of the length before
 * pruning.
 * Computed without a division, in double precision and of the tf that a {@link
 * Boost} of its own gives, as in Python: the two must agree on every posting.
 *
 * @param kept decides on the postings that stay
 * @param table has the least saturation of each term, and the boost
 * @param fixed k1 (1 - b)
 * @param perToken k1 b / avgdl
 */
public record SaturationRule(PostingRule kept, TermTable table, double fixed, double perToken)
    implements PostingRule {
  @Override
  public boolean drops(int term) {
    return kept.drops(term);
  }

  @Override
  public int freq(int term, int tf, int first, int length) {
    double lengthNorm = fixed + perToken * length;
    double boosted = table.saturationBoost().apply(tf, first);
    boolean isDropped = boosted < table.leastSaturation(term) * (boosted + lengthNorm);
    return isDropped ? 0 : kept.freq(term, tf, first, length);
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
    return table.saturationBoost().readsPositions() || kept.readsPositions();
  }
}
