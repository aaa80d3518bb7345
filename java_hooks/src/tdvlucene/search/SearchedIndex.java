package tdvlucene.search;

import java.io.Closeable;
import java.io.IOException;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Index;
import tdvlucene.common.Job;

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
   * it may lack the field.
   *
   * @param counts as {@link Statistics} takes them
   * @param terms likewise
   */
  public void useStatistics(String counts, String terms) {
    statistics = new Statistics(queries.field(), counts, terms);
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
    ranking = new Ranking(searcher, index, similarity);
    return expanding == null && ranking.tiesById;
  }

  /** The best documents for a query, with the scores they were ranked by. */
  ScoreDoc[] search(Queries.Topic topic, int hits) throws IOException {
    return expanding == null
        ? ranking.topOfOneSearch(topic.query(), hits)
        : expanding.search(topic.text(), hits);
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(expanding, reader); // null before they are opened
  }
}
