package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Index;
import tdvlucene.common.Job;

/**
 * Times what a query costs besides the search: analysing its text and fetching the hits'
 * documents.
 *
 * <p>Analysis does not depend on the index. All indexes made from one store the same fields, but
 * the hits differ. Each query's fetch is timed on its own, on one index after another, so that
 * whatever else the machine does affects all of them. The result is the mean over queries of the
 * median round. The first rounds only warm up, five or for some seconds, so that Java's compiler can
 * finish: a round over a small index takes a few milliseconds.
 */
public final class ServiceTimes extends Job {
  private static final int WARM_UP_ROUNDS = 5;
  private static final int COUNTED_ROUNDS = 5;

  private final Queries queries;
  private final int hits;
  private final long warmUpNanos;
  private final List<TimedIndex> indexes = new ArrayList<>();
  private long fieldsSeen;

  public ServiceTimes(Queries queries, int hits, double warmUpSeconds) {
    this.queries = queries;
    this.hits = hits;
    this.warmUpNanos = (long) (warmUpSeconds * 1e9);
  }

  public void addIndex(Index path, Similarity similarity) {
    indexes.add(new TimedIndex(path, similarity, null));
  }

  /**
   * A JSON object: {@code analysis_ms} and {@code stored_fields_ms} (an array, one an index) a
   * query, {@code hits}.
   */
  @Override
  protected Object run() throws Exception {
    phase("timing analysis and stored fields", 0);
    List<Queries.Topic> topics = queries.parse();
    try {
      List<Work> fetches = new ArrayList<>();
      for (TimedIndex index : indexes) {
        index.open(this);
        List<ScoreDoc[]> found = search(index.ranking, topics);
        StoredFields stored = index.reader.storedFields();
        fetches.add(query -> fetch(stored, found.get(query)));
      }
      Work analysis = all -> queries.parse(); // finds the generator: not for each query
      Map<String, Object> result = new TreeMap<>();
      result.put("analysis_ms", meanMs(List.of(analysis), 1).get(0) / topics.size());
      result.put("stored_fields_ms", meanMs(fetches, topics.size()));
      result.put("hits", hits);
      result.put("fields_seen", fieldsSeen); // used, so that no fetch can be left out
      return result;
    } finally {
      IOUtils.close(indexes);
    }
  }

  private interface Work {
    void run(int query) throws Exception;
  }

  private List<ScoreDoc[]> search(Ranking ranking, List<Queries.Topic> topics)
      throws IOException {
    List<ScoreDoc[]> found = new ArrayList<>();
    for (Queries.Topic topic : topics) {
      found.add(ranking.top(topic.query(), hits));
      checkCancelled();
    }
    return found;
  }

  /** Milliseconds a query of each work: the mean over queries of each one's median round. */
  private List<Double> meanMs(List<Work> works, int queries) throws Exception {
    long[] round = new long[works.size() * queries];
    long start = System.nanoTime();
    for (int i = 0; i < WARM_UP_ROUNDS || System.nanoTime() - start < warmUpNanos; i++) {
      timeRound(works, queries, round);
    }
    long[][] rounds = new long[round.length][COUNTED_ROUNDS];
    for (int i = 0; i < COUNTED_ROUNDS; i++) {
      timeRound(works, queries, round);
      for (int cell = 0; cell < round.length; cell++) {
        rounds[cell][i] = round[cell];
      }
    }
    List<Double> means = new ArrayList<>();
    for (int work = 0; work < works.size(); work++) {
      double nanos = 0;
      for (int query = 0; query < queries; query++) {
        long[] nanosOfRounds = rounds[work * queries + query];
        Arrays.sort(nanosOfRounds);
        nanos += nanosOfRounds[COUNTED_ROUNDS / 2];
      }
      means.add(nanos / 1e6 / queries);
    }
    return means;
  }

  private void timeRound(List<Work> works, int queries, long[] nanos) throws Exception {
    for (int query = 0; query < queries; query++) {
      checkCancelled();
      for (int work = 0; work < works.size(); work++) {
        long before = System.nanoTime();
        works.get(work).run(query);
        nanos[work * queries + query] = System.nanoTime() - before;
      }
    }
  }

  private void fetch(StoredFields stored, ScoreDoc[] ranked) throws IOException {
    for (ScoreDoc hit : ranked) {
      fieldsSeen += stored.document(hit.doc).getFields().size();
    }
  }
}
