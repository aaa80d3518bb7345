package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.index.Indexes;

/**
 * What a query costs beside the search: analysing its text, and fetching the documents found.
 *
 * <p>Both are the same work on every index, so they are timed apart from the search and on one
 * index. Reported is the median round's mean over queries; the first rounds only warm up.
 */
public final class ServiceTimes extends Job {
  private static final int WARM_UP_ROUNDS = 5;
  private static final int COUNTED_ROUNDS = 5;

  private final String index;
  private final Similarity similarity;
  private final String field;
  private final String topics;
  private final int hits;
  private final Map<String, Object> result = new TreeMap<>();
  private long fieldsSeen;

  /** @param topics lines of {@code qid<TAB>text} */
  public ServiceTimes(
      String index, Similarity similarity, String field, String topics, int hits) {
    this.index = index;
    this.similarity = similarity;
    this.field = field;
    this.topics = topics;
    this.hits = hits;
  }

  /** A JSON object: {@code analysis_ms} and {@code stored_fields_ms} a query, {@code hits}. */
  @Override
  public String result() {
    return Json.of(result);
  }

  @Override
  protected void run() throws Exception {
    phase("timing analysis and stored fields", 0);
    try (DirectoryReader reader = Indexes.open(index)) {
      Ranking ranking = new Ranking(reader, similarity);
      List<ScoreDoc[]> found = new ArrayList<>();
      for (Queries.Topic topic : Queries.parse(field, topics)) {
        found.add(ranking.top(topic.query, hits));
        checkCancelled();
      }
      result.put("analysis_ms", medianMs(() -> Queries.parse(field, topics), found.size()));
      result.put("stored_fields_ms", medianMs(() -> fetch(reader, found), found.size()));
      result.put("hits", hits);
      result.put("fields_seen", fieldsSeen); // used, so that no fetch can be left out
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  private double medianMs(Work work, int queries) throws Exception {
    double[] ms = new double[COUNTED_ROUNDS];
    for (int round = -WARM_UP_ROUNDS; round < COUNTED_ROUNDS; round++) {
      checkCancelled();
      long before = System.nanoTime();
      work.run();
      if (round >= 0) {
        ms[round] = (System.nanoTime() - before) / 1e6 / queries;
      }
    }
    Arrays.sort(ms);
    return ms[COUNTED_ROUNDS / 2];
  }

  private void fetch(DirectoryReader reader, List<ScoreDoc[]> found) throws IOException {
    StoredFields stored = reader.storedFields();
    for (ScoreDoc[] ranked : found) {
      for (ScoreDoc hit : ranked) {
        fieldsSeen += stored.document(hit.doc).getFields().size();
      }
    }
  }
}
