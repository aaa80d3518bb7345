package tdvlucene.search;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;

/**
 * Collects the best documents, and of those behind them what scores at least a share of the last.
 *
 * <p>Block maxima skip what is below that share, so it costs less than a search for as many
 * documents as there may be.
 *
 * @param hits how many documents are the best
 * @param most how many are returned at most, no fewer
 * @param margin the share; 0 for none, which returns the best {@code most}
 */
record NearBest(int hits, int most, double margin)
    implements CollectorManager<NearBest.Collected, ScoreDoc[]> {
  /** The lowest score that is near the best. */
  private static float least(double margin, float last) {
    return (float) (margin * last);
  }

  /** How many of these hits are the best or near them, at most {@code most}. */
  static int count(ScoreDoc[] found, int hits, int most, double margin) {
    int count = Math.min(most, found.length);
    float least = count > hits ? least(margin, found[hits - 1].score) : 0;
    while (count > hits && found[count - 1].score < least) {
      count--;
    }
    return count;
  }

  @Override
  public Collected newCollector() {
    return new Collected();
  }

  @Override
  public ScoreDoc[] reduce(Collection<Collected> all) {
    long[] found = new long[all.stream().mapToInt(each -> each.count).sum()];
    int end = 0;
    for (Collected each : all) {
      System.arraycopy(each.found, 0, found, end, each.count);
      end += each.count;
    }
    ScoreDoc[] best = PackedHit.inOrder(found, Math.min(most, found.length));
    return Arrays.copyOf(best, count(best, hits, most, margin));
  }

  /** What one thread collects. */
  final class Collected implements Collector, LeafCollector {
    private final long[] found = new long[2 * most];
    private int count;
    private Scorable scorer;
    private int base;

    /** The best scores, in ascending order; 0 for none yet. */
    private final float[] best = new float[hits];

    /** No hit behind this one is collected any more. */
    private long last = PackedHit.of(0, Integer.MAX_VALUE);

    @Override
    public ScoreMode scoreMode() {
      return ScoreMode.TOP_SCORES;
    }

    @Override
    public LeafCollector getLeafCollector(LeafReaderContext leaf) {
      base = leaf.docBase;
      return this;
    }

    @Override
    public void setScorer(Scorable scorer) throws IOException {
      this.scorer = scorer;
      if (leastToCome() > 0) {
        scorer.setMinCompetitiveScore(leastToCome());
      }
    }

    @Override
    public void collect(int doc) throws IOException {
      if (add(doc, scorer.score())) {
        scorer.setMinCompetitiveScore(leastToCome());
      }
    }

    /** The lowest score that a later document is collected for: an equal one is behind the last. */
    private float leastToCome() {
      float least = PackedHit.score(last);
      return (int) last == Integer.MAX_VALUE ? least : Math.nextUp(least);
    }

    /** Adds a document of the segment; returns whether fewer are near the best by it. */
    boolean add(int doc, float score) {
      long hit = PackedHit.of(score, base + doc);
      if (hit > last) {
        return false;
      }
      found[count++] = hit;
      long before = last;
      if (hits < most && margin > 0 && score > best[0]) {
        insert(score);
        last = Math.min(last, PackedHit.of(least(margin, best[0]), Integer.MAX_VALUE));
      }
      if (count == found.length) {
        Arrays.sort(found);
        count = most;
        last = Math.min(last, found[most - 1]);
      }
      return last < before;
    }

    private void insert(float score) {
      int at = 0;
      for (; at + 1 < hits && best[at + 1] < score; at++) {
        best[at] = best[at + 1];
      }
      best[at] = score;
    }
  }
}
