package tdvlucene.search;

import java.util.List;
import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.similarities.BasicStats;
import org.apache.lucene.search.similarities.SimilarityBase;

/**
 * The TF-IDF of Frej et al., "Learning Term Discrimination", eq. (1) and (2): {@code f * ln((N +
 * 1) / df)}, summed over the query's terms, without any length normalisation.
 *
 * <p>N is the number of documents with at least one term in the field, as in Lucene's BM25. Not
 * the same as {@code ClassicSimilarity}, which is sqrt(f) * idf^2 / sqrt(length). It writes the
 * norms that every Lucene similarity writes and reads none, so it can search an index made for
 * BM25.
 *
 * <p>The score grows with f and does not depend on the norm, so skipping by block maxima is exact.
 */
public final class TfIdfSimilarity extends SimilarityBase {
  @Override
  protected double score(BasicStats stats, double freq, double docLen) {
    return stats.getBoost() * freq * idf(stats);
  }

  private static double idf(BasicStats stats) {
    return Math.log((stats.getNumberOfDocuments() + 1.0) / stats.getDocFreq());
  }

  @Override
  protected void explain(
      List<Explanation> details, BasicStats stats, double freq, double docLen) {
    Explanation documents =
        Explanation.match(stats.getNumberOfDocuments(), "N, documents with at least one term");
    Explanation docFreq = Explanation.match(stats.getDocFreq(), "df, documents with this term");
    details.add(Explanation.match(stats.getBoost(), "boost, frequency in the query"));
    details.add(
        Explanation.match(idf(stats), "idf, computed as ln((N + 1) / df) from:", documents, docFreq));
  }

  @Override
  public String toString() {
    return "TfIdf";
  }
}
