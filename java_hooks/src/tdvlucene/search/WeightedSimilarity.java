package tdvlucene.search;

import java.io.IOException;
import org.apache.lucene.index.FieldInvertState;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.search.similarities.BasicStats;
import org.apache.lucene.search.similarities.LMDirichletSimilarity;
import org.apache.lucene.search.similarities.LMSimilarity;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Indexes;
import tdvlucene.common.UserException;
import tdvlucene.prune.StoredTdvs;

/**
 * Lucene's BM25 or Dirichlet model, or our TF-IDF, with frequencies multiplied by the term's TDV;
 * for an index made by {@code prune --tf similarity}, which keeps original frequencies.
 *
 * <p>The TDV v of a term is looked up once for each query. Nothing is scored here: each term gets
 * Lucene's own scorer with changed parameters, which comes to the same number. BM25, whose length
 * norm K is proportional to k1: v tf / (v tf + K) = tf / (tf + K / v). Dirichlet, with lengths and
 * mu in the stored unit u: ln(1 + v tf / (mu p)) + ln(u mu / (length + u mu)), p = (v cf + 1) /
 * (tokens / u + 1). TF-IDF: a boost of v. So scores grow with the frequency and fall with the
 * length as Lucene's do, and skipping by block maxima stays exact.
 *
 * <p>A phrase counts with the mean TDV of its terms. Fields other than the one the TDVs are for,
 * and terms pooled by a {@code SynonymQuery}, count unweighted.
 */
public final class WeightedSimilarity extends Similarity {
  /** The name under which Lucene's {@code SynonymQuery} gives the statistics of several terms. */
  private static final String POOLED = "synonym pseudo-term";

  private final String field;
  private final StoredTdvs tdvs;
  private final Similarity plain;

  private WeightedSimilarity(String field, StoredTdvs tdvs, Similarity plain) {
    this.field = field;
    this.tdvs = tdvs;
    this.plain = plain;
  }

  /** As {@link #of}, for the last commit of an index. */
  public static WeightedSimilarity open(String index, String field, Similarity plain)
      throws IOException {
    return Indexes.read(index, reader -> of(reader, field, plain));
  }

  /**
   * Reads the TDVs of an index; they are good for that index only.
   *
   * @param plain what the weighted frequencies are scored by: {@code BM25Similarity}, {@code
   *     LMDirichletSimilarity} or {@link TfIdfSimilarity}
   */
  public static WeightedSimilarity of(IndexReader reader, String field, Similarity plain)
      throws IOException {
    Class<?> model = plain.getClass(); // a subclass may be another formula: Anserini's are
    boolean known =
        model == BM25Similarity.class
            || model == LMDirichletSimilarity.class
            || model == TfIdfSimilarity.class;
    if (!known) {
      throw new UserException(
          "TDVs cannot be applied to " + plain
              + ": search with BM25, Dirichlet (qld) or tfidf");
    }
    return new WeightedSimilarity(field, StoredTdvs.read(reader, field), plain);
  }

  @Override
  public long computeNorm(FieldInvertState state) {
    return plain.computeNorm(state);
  }

  @Override
  public SimScorer scorer(
      float boost, CollectionStatistics collection, TermStatistics... terms) {
    if (!collection.field().equals(field)) {
      return plain.scorer(boost, collection, terms);
    }
    double tdv = meanTdv(terms);
    if (plain instanceof BM25Similarity) {
      BM25Similarity bm25 = (BM25Similarity) plain;
      float k1 = (float) (bm25.getK1() / tdv);
      return new BM25Similarity(k1, bm25.getB()).scorer(boost, collection, terms);
    }
    if (plain instanceof LMDirichletSimilarity) {
      double unit = tdvs.lengthUnit();
      float mu = (float) (((LMDirichletSimilarity) plain).getMu() * unit);
      return new LMDirichletSimilarity(new Weighted(tdv, unit), mu)
          .scorer(boost, collection, terms);
    }
    return plain.scorer((float) (boost * tdv), collection, terms);
  }

  private double meanTdv(TermStatistics[] terms) {
    double sum = 0;
    for (TermStatistics term : terms) {
      boolean pooled = term.term().utf8ToString().equals(POOLED);
      sum += pooled ? 1 : tdvs.of(term.term());
    }
    return sum / terms.length;
  }

  /** The term's probability under weighted frequencies, over its TDV, in the stored unit. */
  private static final class Weighted implements LMSimilarity.CollectionModel {
    private final double tdv;
    private final double unit;

    Weighted(double tdv, double unit) {
      this.tdv = tdv;
      this.unit = unit;
    }

    @Override
    public double computeProbability(BasicStats stats) {
      double inTerm = tdv * stats.getTotalTermFreq() + 1;
      double inAll = stats.getNumberOfFieldTokens() / unit + 1;
      return inTerm / inAll / (tdv * unit);
    }

    @Override
    public String getName() {
      return "weighted by " + tdv;
    }
  }

  @Override
  public String toString() {
    return "Weighted " + plain;
  }
}
