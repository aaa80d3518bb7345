package tdvlucene.search;

import org.apache.lucene.index.FieldInvertState;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.BasicStats;
import org.apache.lucene.search.similarities.LMDirichletSimilarity;
import org.apache.lucene.search.similarities.Similarity;

/** Lucene's query likelihood, reading norms as exact lengths. For queries of single terms. */
final class ExactDirichlet extends Similarity {
  private final Formula formula;

  ExactDirichlet(float mu) {
    this.formula = new Formula(mu);
  }

  @Override
  public long computeNorm(FieldInvertState state) {
    return state.getLength();
  }

  @Override
  public SimScorer scorer(
      float boost, CollectionStatistics collection, TermStatistics... terms) {
    if (terms.length != 1) {
      throw new IllegalArgumentException(terms.length + " terms are scored as one");
    }
    BasicStats stats = formula.of(boost, collection, terms[0]);
    return new SimScorer() {
      @Override
      public float score(float freq, long norm) {
        return (float) formula.score(stats, freq, norm);
      }

      @Override
      public Explanation explain(Explanation freq, long norm) {
        return formula.explain(stats, freq, norm);
      }
    };
  }

  /** What Lucene's class keeps to itself: its scorer reads norms as bytes. */
  private static final class Formula extends LMDirichletSimilarity {
    private Formula(float mu) {
      super(mu);
    }

    private BasicStats of(float boost, CollectionStatistics collection, TermStatistics term) {
      BasicStats stats = newStats(collection.field(), boost);
      fillBasicStats(stats, collection, term);
      return stats;
    }

    @Override
    protected double score(BasicStats stats, double freq, double length) {
      return super.score(stats, freq, length);
    }

    @Override
    protected Explanation explain(BasicStats stats, Explanation freq, double length) {
      return super.explain(stats, freq, length);
    }
  }
}
