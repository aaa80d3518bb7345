package tdvlucene.search;

import io.anserini.search.similarity.AccurateBM25Similarity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.index.FieldInvertState;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.search.similarities.LMDirichletSimilarity;
import org.apache.lucene.search.similarities.PerFieldSimilarityWrapper;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Index;
import tdvlucene.common.NormKind;
import tdvlucene.common.UserException;

/**
 * A similarity that reads the norms of each field as they were written: the one door by which a
 * similarity comes to a searcher.
 *
 * <p>Lucene's take the lowest byte of any norm for a length. Of exact lengths that makes nonsense,
 * which scores as if it were right.
 */
final class NormReading extends PerFieldSimilarityWrapper {
  private final IndexReader reader;
  private final Index index;
  private final Similarity similarity;
  private final Map<String, Similarity> byField = new ConcurrentHashMap<>();

  private NormReading(IndexReader reader, Index index, Similarity similarity) {
    this.reader = reader;
    this.index = index;
    this.similarity = similarity;
  }

  /** The similarity as it is where it reads no norms, or came through here already. */
  static Similarity of(IndexReader reader, Index index, Similarity similarity) {
    boolean readsNone =
        similarity instanceof TfIdfSimilarity || similarity instanceof ImpactSimilarity;
    return readsNone || similarity instanceof NormReading
        ? similarity
        : new NormReading(reader, index, similarity);
  }

  @Override
  public Similarity get(String field) {
    return byField.computeIfAbsent(field, this::reading);
  }

  @Override
  public String toString() {
    return similarity.toString();
  }

  private Similarity reading(String field) {
    try {
      NormKind kind = NormKind.ofLengths(reader, field);
      if (kind != NormKind.ACCURATE && kind != NormKind.UNREADABLE) {
        return similarity;
      }
      Similarity exact = kind == NormKind.ACCURATE ? onExactLengths(similarity) : null;
      if (exact == null) {
        throw new UserException(
            "the norms of field '" + field + "' of " + index + " are no bytes, and " + similarity
                + " cannot read "
                + (kind == NormKind.ACCURATE
                    ? "exact lengths (-bm25.accurate)"
                    : "what they are: a similarity of its own wrote them")
                + "; rank by another function (model"
                + "), or index with Anserini's default similarity");
      }
      return exact;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The same function on exact lengths; null where there is none. */
  private static Similarity onExactLengths(Similarity similarity) {
    if (similarity instanceof BM25Similarity bm25) {
      return new AccurateBM25Similarity(bm25.getK1(), bm25.getB());
    }
    if (similarity instanceof LMDirichletSimilarity dirichlet) {
      return new ExactDirichlet(dirichlet.getMu());
    }
    return null;
  }

  /** Lucene's query likelihood, reading norms as exact lengths. For queries of single terms. */
  private static final class ExactDirichlet extends Similarity {
    private final float mu;

    ExactDirichlet(float mu) {
      this.mu = mu;
    }

    @Override
    public long computeNorm(FieldInvertState state) {
      return state.getLength();
    }

    /** Lucene's own scorer, which cannot be changed, reads norms as bytes. */
    @Override
    public SimScorer scorer(
        float boost, CollectionStatistics collection, TermStatistics... terms) {
      if (terms.length != 1) {
        throw new IllegalArgumentException(terms.length + " terms are scored as one");
      }
      double p = (terms[0].totalTermFreq() + 1.0) / (collection.sumTotalTermFreq() + 1.0);
      return new SimScorer() {
        @Override
        public float score(float freq, long norm) {
          double ofLength = Math.log(mu / ((double) norm + mu));
          return (float) Math.max(0, boost * (Math.log(1 + freq / (mu * p)) + ofLength));
        }
      };
    }
  }
}
