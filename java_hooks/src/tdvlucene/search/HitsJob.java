package tdvlucene.search;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Job;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.Pool;

/**
 * Searches topics and writes the best documents of each as arrays: {@code counts} (int64, hits of
 * each topic), {@code scores} (float32, as they were ranked by), and the documents' ids, {@code
 * text} (uint8) and {@code ends} (int64). Any id will do, for nothing has columns here.
 */
public final class HitsJob extends Job {
  private final String index;
  private final Similarity similarity;
  private final Queries queries;
  private final int hits;
  private final int threads;
  private final Path folder;
  private WholeStatistics statistics; // null for the index's own

  public HitsJob(
      String index, Similarity similarity, Queries queries, int hits, int threads, String folder) {
    this.index = index;
    this.similarity = similarity;
    this.queries = queries;
    this.hits = hits;
    this.threads = threads;
    this.folder = Paths.get(folder);
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

  @Override
  protected void run() throws Exception {
    try (DirectoryReader reader = open(index);
        NpyWriter counts = new NpyWriter(folder.resolve("counts.npy"), "<i8");
        NpyWriter scores = new NpyWriter(folder.resolve("scores.npy"), "<f4");
        NpyWriter text = new NpyWriter(folder.resolve("text.npy"), "|u1");
        NpyWriter ends = new NpyWriter(folder.resolve("ends.npy"), "<i8");
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
      List<Queries.Topic> topics = queries.parse();
      phase("searching", topics.size());
      TopicSearches.each(
          topics, topic -> search(ranking, topic), pool, threads,
          (topic, found) -> {
            counts.writeLong(found.scores.length);
            for (int i = 0; i < found.scores.length; i++) {
              scores.writeInt(Float.floatToRawIntBits(found.scores[i]));
              text.writeBytes(found.ids[i], 0, found.ids[i].length);
              ends.writeLong(text.bytes());
            }
            advance(1);
          });
    }
  }

  private Found search(Ranking ranking, Queries.Topic topic) throws IOException {
    checkCancelled(); // so that what is queued ends at once
    ScoreDoc[] best = ranking.topOfOneSearch(topic.query, hits);
    String[] ids = ranking.ids(best);
    Found found = new Found(best.length);
    for (int i = 0; i < best.length; i++) {
      found.scores[i] = best[i].score;
      found.ids[i] = ids[i].getBytes(StandardCharsets.UTF_8);
    }
    return found;
  }

  /** Of one topic, best first. */
  private static final class Found {
    private final float[] scores;
    private final byte[][] ids;

    private Found(int size) {
      scores = new float[size];
      ids = new byte[size][];
    }
  }
}
