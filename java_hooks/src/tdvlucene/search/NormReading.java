package tdvlucene.search;

import io.anserini.search.similarity.AccurateBM25Similarity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.index.FieldInvertState;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.search.similarities.BasicStats;
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
                + "; rank by another function (" + UserException.argument("model")
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

    /** Opens what Lucene's class keeps to itself: its scorer reads norms as bytes. */
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
}
