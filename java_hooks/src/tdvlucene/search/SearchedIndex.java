package tdvlucene.search;

import io.anserini.search.ScoredDoc;
import io.anserini.search.SimpleSearcher;
import java.io.Closeable;
import java.io.IOException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.Lucene;
import tdvlucene.common.UserException;

/**
 * Opens an index for {@link SearchJob}s, and sees whether it can be searched. All of them search
 * the commit that was the last one then.
 *
 * <p>Hits are those of Anserini's {@code SimpleSearcher}.
 */
public final class SearchedIndex extends Job implements Closeable {
  final Index index;
  private final Similarity similarity;
  private final Queries queries;
  private Statistics statistics; // null for the index's own
  private String feedback; // null for none
  IndexReader reader;
  private Feedback expanding; // null for none
  private Ranking ranking;

  /** @param queries whatever they ask, for their field and what analyses them */
  public SearchedIndex(Index index, Similarity similarity, Queries queries) {
    this.index = index;
    this.similarity = similarity;
    this.queries = queries;
  }

  /** Expand queries by {@code rm3} or {@code rocchio}; see {@link Feedback}. */
  public void expand(String method) {
    feedback = method;
  }

  /**
   * The index is a shard that {@link Statistics#ofShard} looked at, scored with those of the whole;
   * it may lack the field. To be called for each field that is searched.
   *
   * @param counts as {@link Statistics#add} takes them
   * @param terms likewise
   */
  public void useStatistics(String field, String counts, String terms) {
    statistics = statistics == null ? new Statistics() : statistics;
    statistics.add(field, counts, terms);
  }

  /** JSON: whether equal scores are ordered by id, and are printed as those. */
  @Override
  protected Object run() throws IOException, ReflectiveOperationException {
    reader = open(index);
    if (feedback != null) {
      expanding = Feedback.open(index, reader, similarity, queries, feedback);
    }
    if (statistics == null) {
      Searchable.require(
          reader, index, queries.field(), bytes -> phase("checking the index", bytes),
          this::advance);
    }
    IndexSearcher searcher =
        statistics == null
            ? ImpactSimilarity.searcher(reader, similarity)
            : statistics.searcher(reader, similarity);
    ranking = new Ranking(searcher, index, similarity, null);
    return expanding == null && ranking.tiesById;
  }

  /** The best documents for a query, with the scores they were ranked by. */
  interface Search {
    ScoreDoc[] best(Queries.Topic topic, int hits) throws IOException;
  }

  /** A search in tiers; of the field of the queries alone if null. Feedback asks that alone. */
  Search search(Tiers tiers) {
    if (expanding != null) {
      return (topic, hits) -> expanding.search(topic.text(), hits);
    }
    Ranking ranked = ranking.in(tiers);
    return (topic, hits) -> ranked.top(topic.query(), hits);
  }

  IndexSearcher searcher() {
    return ranking.searcher;
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(expanding, reader); // null before they are opened
  }

  /**
   * Anserini's pseudo-relevance feedback with the settings that Pyserini's {@code set_rm3()} and
   * {@code set_rocchio()} give it, on any similarity.
   *
   * <p>Hits and scores are {@code SimpleSearcher}'s own, so its field is searched: {@code contents}.
   */
  private record Feedback(SimpleSearcher searcher) implements Closeable {
    static final String FIELD = "contents";

    /**
     * @param index not in shards
     * @param method {@code rm3} or {@code rocchio}
     */
    static Feedback open(
        Index index, IndexReader reader, Similarity similarity, Queries queries, String method)
        throws IOException, ReflectiveOperationException {
      Searchable.requireAnserinisIds(reader, index);
      requireVectors(index, reader, method);
      refuseSoftDeleted(index, reader, method);
      SimpleSearcher searcher = new SimpleSearcher(index.folders().get(0));
      Searchable.setSimilarity(index, searcher, similarity, null);
      searcher.set_analyzer(queries.analyzer());
      String collection = null; // to parse documents with, where no vectors are
      if (method.equals("rm3")) {
        searcher.set_rm3(collection, 10, 10, 0.5f, false, true);
      } else {
        searcher.set_rocchio(collection, 10, 10, 10, 10, 1f, 0.75f, 0f, false, false);
      }
      return new Feedback(searcher);
    }

    private static void requireVectors(Index index, IndexReader reader, String method) {
      FieldInfo field = FieldInfos.getMergedFieldInfos(reader).fieldInfo(FIELD);
      if (field == null || !Lucene.hasTermVectors(field)) {
        throw new UserException(
            index + " has no term vectors of '" + FIELD + "', which " + method + " expands queries"
                + " from: index the collection with Anserini's -storeDocvectors");
      }
    }

    /** Anserini opens the index itself, and does not hide them. */
    private static void refuseSoftDeleted(Index index, IndexReader reader, String method) {
      int hidden = Index.countSoftDeleted(reader);
      if (hidden > 0) {
        throw new UserException(
            index + " has " + hidden + " soft-deleted documents, which Anserini's " + method
                + " would find: search without it, or merge them away first");
      }
    }

    /** The hits for a query, best first. */
    ScoreDoc[] search(String text, int hits) throws IOException {
      ScoredDoc[] found = searcher.search(text, hits);
      ScoreDoc[] best = new ScoreDoc[found.length];
      for (int i = 0; i < found.length; i++) {
        best[i] = new ScoreDoc(found[i].lucene_docid, found[i].score);
      }
      return best;
    }

    @Override
    public void close() throws IOException {
      searcher.close();
    }
  }
}
