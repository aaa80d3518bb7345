package tdvlucene.search;

import java.io.IOException;
import org.apache.lucene.index.FieldInvertState;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.IOFunction;
import tdvlucene.common.Lucene;

/**
 * Frequency in the query times frequency in the document: what an impact index is searched with,
 * whose frequencies are weights.
 *
 * <p>Scores are those of Anserini's class of this name. Pyserini's {@code LuceneImpactSearcher} asks
 * only for terms with {@code ln(N / df)} above its {@code min_idf}, and so do the searches here: by
 * default, for those that some document lacks.
 */
public final class ImpactSimilarity extends Similarity {
  private final double minIdf;

  public ImpactSimilarity(double minIdf) {
    this.minIdf = minIdf;
  }

  @Override
  public long computeNorm(FieldInvertState state) {
    return 1;
  }

  @Override
  public SimScorer scorer(
      float boost, CollectionStatistics collection, TermStatistics... statistics) {
    return new SimScorer() {
      @Override
      public float score(float freq, long norm) {
        return freq * boost;
      }
    };
  }

  /** Whether a searcher asks for a term of so many documents; by any other similarity it does. */
  static boolean asks(IndexSearcher searcher, long docFreq) {
    return !(searcher.getSimilarity() instanceof ImpactSimilarity impact)
        || impact.asks(Statistics.documents(searcher), docFreq);
  }

  private boolean asks(long documents, long docFreq) {
    return docFreq == 0 || Math.log((double) documents / docFreq) > minIdf;
  }

  /** The searcher of an index by a similarity, which it does not set. */
  static IndexSearcher searcher(IndexReader reader, Similarity similarity) {
    return new IndexSearcher(reader) {
      @Override
      public Query rewrite(Query query) throws IOException {
        return super.rewrite(askedFor(query, similarity, reader.numDocs(), reader::docFreq));
      }
    };
  }

  /** The clauses of a bag of words that are asked for; all by any other similarity. */
  static Query askedFor(
      Query query, Similarity similarity, long documents, IOFunction<Term, Number> docFreq)
      throws IOException {
    if (!(similarity instanceof ImpactSimilarity impact && query instanceof BooleanQuery words)) {
      return query;
    }
    BooleanQuery.Builder asked = new BooleanQuery.Builder();
    for (BooleanClause clause : words) {
      Query part = Lucene.query(clause);
      Query bare = part instanceof BoostQuery boosted ? boosted.getQuery() : part;
      if (impact.asks(documents, docFreq.apply(((TermQuery) bare).getTerm()).longValue())) {
        asked.add(clause);
      }
    }
    return asked.build();
  }
}
