package tdvlucene.search;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Job;
import tdvlucene.common.Pool;

/**
 * Searches topics and writes the best documents of each, with the scores they were ranked by: see
 * {@link HitArrays}.
 *
 * <p>Hits are those of Anserini's {@code SimpleSearcher}. Several threads search; hits are written
 * in the order of the topics, and memory is bounded by a few queries for each thread.
 */
public final class SearchJob extends Job {
  private static final int QUEUED_PER_THREAD = 4;

  private final String index;
  private final Similarity similarity;
  private final Queries queries;
  private final int hits;
  private final int threads;
  private final Path folder;
  private WholeStatistics statistics; // null for the index's own
  private String feedback; // null for none
  private boolean tiesById;

  public SearchJob(
      String index, Similarity similarity, Queries queries, int hits, int threads, String folder) {
    this.index = index;
    this.similarity = similarity;
    this.queries = queries;
    this.hits = hits;
    this.threads = threads;
    this.folder = Paths.get(folder);
  }

  /** Expand queries by {@code rm3} or {@code rocchio}; see {@link Feedback}. */
  public void expand(String method) {
    feedback = method;
  }

  /**
   * The index is a shard that {@link ShardStatistics} looked at, scored with these statistics; it
   * may lack the field.
   *
   * @param counts as {@link WholeStatistics} takes them
   * @param terms likewise
   */
  public void useStatistics(String counts, String terms) {
    statistics = new WholeStatistics(queries.field, counts, terms);
  }

  /** JSON: whether equal scores were ordered by id, and are printed as those; see RunJob. */
  @Override
  public String result() {
    return String.valueOf(tiesById);
  }

  @Override
  protected void run() throws Exception {
    try (DirectoryReader reader = open(index);
        HitArrays arrays = new HitArrays(folder, reader.maxDoc());
        Feedback expanding = expansion(reader);
        Pool pool = new Pool(threads)) { // closed first: no search outlives its reader
      if (statistics == null) {
        Searchable.require(
            reader, index, queries.field, bytes -> phase("checking the index", bytes), this::advance);
      }
      IndexSearcher searcher =
          statistics == null
              ? ImpactSimilarity.searcher(reader, similarity)
              : statistics.searcher(reader, similarity);
      Ranking ranking = new Ranking(searcher, index, similarity);
      tiesById = expanding == null && ranking.tiesById();
      search(ranking, expanding, arrays, pool);
      arrays.writeIds(reader, index);
    }
  }

  private Feedback expansion(DirectoryReader reader)
      throws IOException, ReflectiveOperationException {
    return feedback == null ? null : Feedback.open(index, reader, similarity, queries, feedback);
  }

  private void search(Ranking ranking, Feedback expanding, HitArrays arrays, Pool pool)
      throws IOException, ReflectiveOperationException {
    List<Queries.Topic> topics = queries.parse();
    phase("searching", topics.size());
    Iterator<Queries.Topic> waiting = topics.iterator();
    Deque<Future<ScoreDoc[]>> running = new ArrayDeque<>();
    while (waiting.hasNext() || !running.isEmpty()) {
      if (waiting.hasNext() && running.size() < threads * QUEUED_PER_THREAD) {
        Queries.Topic topic = waiting.next();
        running.add(pool.submit(() -> {
          checkCancelled(); // so that what is queued ends at once
          return expanding == null
              ? ranking.topOfOneSearch(topic.query, hits)
              : expanding.search(topic.text, hits);
        }));
      } else {
        arrays.write(Pool.get(running.remove()));
        advance(1);
      }
    }
  }
}
