package tdvlucene.search;

import java.util.Arrays;
import org.apache.lucene.search.ScoreDoc;

/**
 * A hit as a number, the best being the least: by score, and equal ones in the order of documents.
 *
 * <p>The bits of floats, none of which is below 0, are in the order of the floats.
 */
final class PackedHit {
  private PackedHit() {}

  static long of(float score, int doc) {
    return (long) (Integer.MAX_VALUE - Float.floatToRawIntBits(score)) << Integer.SIZE | doc;
  }

  static float score(long hit) {
    return Float.intBitsToFloat(Integer.MAX_VALUE - (int) (hit >> Integer.SIZE));
  }

  /** The first {@code count} of these hits, the best first; sorts them. */
  static ScoreDoc[] inOrder(long[] hits, int count) {
    Arrays.sort(hits);
    ScoreDoc[] best = new ScoreDoc[count];
    for (int i = 0; i < count; i++) {
      best[i] = new ScoreDoc((int) hits[i], score(hits[i]));
    }
    return best;
  }
}
