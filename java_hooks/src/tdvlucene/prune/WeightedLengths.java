package tdvlucene.prune;

import java.util.concurrent.atomic.DoubleAdder;

/**
 * Document lengths where TDVs are applied at search: sums of tf x TDV instead of tf.
 *
 * <p>They are stored scaled so that they sum to the field's tokens. Then a length divided by
 * Lucene's average length is what it would be with weighted frequencies, and plain BM25 on the
 * same index has sensible lengths too. While being summed they are counted in fractions of the
 * mean TDV.
 */
public final class WeightedLengths {
  private static final double PARTS = 256;
  private static final int LONGEST = 1 << 30;

  private final float[] tdv;
  private final double parts;
  private final DoubleAdder weightedTokens = new DoubleAdder();

  /** @param mean roughly the mean TDV of a token, which is 256 parts */
  public WeightedLengths(float[] tdv, double mean) {
    this.tdv = tdv;
    this.parts = PARTS / mean;
  }

  /** What a posting adds to its document's length, in parts; at least 1, so that none is empty. */
  public int of(int term, int freq) {
    return (int) Math.min(LONGEST, Math.max(1, Math.rint(parts * tdv[term] * freq)));
  }

  /** Is told how many tokens of a term stay. */
  public void count(int term, long tokens) {
    weightedTokens.add((double) tokens * tdv[term]);
  }

  /** The length that stands for 1 weighted token, of a field in which {@code tokens} stay. */
  public double unit(long tokens) {
    return tokens == 0 ? 1 : tokens / weightedTokens.sum();
  }

  /** Turns summed parts into lengths. */
  public void finish(int[] lengths, double unit) {
    for (int doc = 0; doc < lengths.length; doc++) {
      double length = Math.rint(lengths[doc] / parts * unit);
      lengths[doc] = lengths[doc] == 0 ? 0 : (int) Math.max(1, Math.min(length, LONGEST));
    }
  }
}
