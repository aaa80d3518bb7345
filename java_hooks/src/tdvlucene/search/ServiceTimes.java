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
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.index.Indexes;

/**
 * What a query costs beside the search: analysing its text, and fetching the documents found.
 *
 * <p>Analysis knows nothing of the index. Stored fields are the same in all indexes made from one,
 * but the documents found differ, and indexes take turns in fetching theirs. Reported is the median
 * round's mean over queries; the first rounds only warm up.
 */
public final class ServiceTimes extends Job {
  private static final int WARM_UP_ROUNDS = 5;
  private static final int COUNTED_ROUNDS = 5;

  private final String field;
  private final String topics;
  private final int hits;
  private final List<String> paths = new ArrayList<>();
  private final List<Similarity> similarities = new ArrayList<>();
  private final Map<String, Object> result = new TreeMap<>();
  private long fieldsSeen;

  /** @param topics lines of {@code qid<TAB>text} */
  public ServiceTimes(String field, String topics, int hits) {
    this.field = field;
    this.topics = topics;
    this.hits = hits;
  }

  public void addIndex(String path, Similarity similarity) {
    paths.add(path);
    similarities.add(similarity);
  }

  /**
   * A JSON object: {@code analysis_ms} and {@code stored_fields_ms} (an array, one an index) a
   * query, {@code hits}.
   */
  @Override
  public String result() {
    return Json.of(result);
  }

  @Override
  protected void run() throws Exception {
    phase("timing analysis and stored fields", 0);
    List<Queries.Topic> queries = Queries.parse(field, topics);
    List<DirectoryReader> readers = new ArrayList<>();
    try {
      List<Work> fetches = new ArrayList<>();
      for (int i = 0; i < paths.size(); i++) {
        DirectoryReader reader = Indexes.open(paths.get(i));
        readers.add(reader);
        List<ScoreDoc[]> found = search(new Ranking(reader, similarities.get(i)), queries);
        fetches.add(() -> fetch(reader, found));
      }
      Work analysis = () -> Queries.parse(field, topics);
      result.put("analysis_ms", medianMs(List.of(analysis), queries.size()).get(0));
      result.put("stored_fields_ms", medianMs(fetches, queries.size()));
      result.put("hits", hits);
      result.put("fields_seen", fieldsSeen); // used, so that no fetch can be left out
    } finally {
      IOUtils.close(readers);
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  private List<ScoreDoc[]> search(Ranking ranking, List<Queries.Topic> queries)
      throws IOException {
    List<ScoreDoc[]> found = new ArrayList<>();
    for (Queries.Topic topic : queries) {
      found.add(ranking.top(topic.query, hits));
      checkCancelled();
    }
    return found;
  }

  /** Milliseconds a query of each work; they take turns. */
  private List<Double> medianMs(List<Work> works, int queries) throws Exception {
    double[][] ms = new double[works.size()][COUNTED_ROUNDS];
    for (int round = -WARM_UP_ROUNDS; round < COUNTED_ROUNDS; round++) {
      for (int i = 0; i < works.size(); i++) {
        checkCancelled();
        long before = System.nanoTime();
        works.get(i).run();
        if (round >= 0) {
          ms[i][round] = (System.nanoTime() - before) / 1e6 / queries;
        }
      }
    }
    List<Double> medians = new ArrayList<>();
    for (double[] of : ms) {
      Arrays.sort(of);
      medians.add(of[COUNTED_ROUNDS / 2]);
    }
    return medians;
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
