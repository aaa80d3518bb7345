package tdvlucene.search;

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
    double idf = Math.log((stats.getNumberOfDocuments() + 1.0) / stats.getDocFreq());
    return stats.getBoost() * freq * idf;
  }

  @Override
  public String toString() {
    return "TfIdf";
  }
}
