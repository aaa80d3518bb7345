package tdvlucene.search;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Paths;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.Lucene;

/**
 * An index whose searches are timed, and the run with which its hits must agree.
 *
 * <p>What is timed is Lucene's own search for the best documents. Anserini's search also orders
 * equal scores by id and scores the hits a second time; that costs the same on every index and
 * would hide the difference.
 */
final class TimedIndex implements Closeable {
  /** What is timed: so many hits, with or without skipping by block maxima. */
  enum Mode {
    TOP10(10, false),
    TOP1000(1000, false),
    TOP10_EXHAUSTIVE(10, true),
    TOP1000_EXHAUSTIVE(1000, true);

    final int hits;
    final boolean exhaustive;

    Mode(int hits, boolean exhaustive) {
      this.hits = hits;
      this.exhaustive = exhaustive;
    }
  }

  private static final int RUN_DEPTH = 1000;
  /** Skipping or not, the terms of a sum come in another order: float scores differ by so much. */
  private static final float SAME_SCORE = 1e-5f;

  private final Index path;
  private final String run;
  private final Similarity similarity;
  private RunFile expected;
  IndexReader reader;
  Ranking ranking;
  private final AtomicLong visited = new AtomicLong();
  private IndexSearcher counting;

  /** @param run what the same similarity gave on this index, 1000 hits deep */
  TimedIndex(Index path, Similarity similarity, String run) {
    this.path = path;
    this.similarity = similarity;
    this.run = run;
  }

  /** Opens the index and the run. */
  void open(Job job) throws IOException {
    reader = job.open(path);
    ranking = new Ranking(reader, path, similarity);
    expected = new RunFile(Paths.get(run));
  }

  /** The search that is timed. */
  ScoreDoc[] search(Queries.Topic topic, Mode mode) throws IOException {
    return search(ranking.searcher, topic, mode);
  }

  /**
   * Postings the same search stops at. Slower, and Lucene's code meets other classes by it: to be
   * called when nothing is timed any more.
   */
  long countPostings(Queries.Topic topic, Mode mode) throws IOException {
    if (counting == null) {
      IndexReader counted = CountingReader.of(reader, visited);
      Similarity ranks = ranking.searcher.getSimilarity();
      counting = Ranking.ready(ImpactSimilarity.searcher(counted, ranks), ranks);
    }
    search(counting, topic, mode);
    return visited.getAndSet(0);
  }

  private ScoreDoc[] search(IndexSearcher searcher, Queries.Topic topic, Mode mode)
      throws IOException {
    if (!mode.exhaustive) {
      return searcher.search(topic.query(), mode.hits).scoreDocs;
    }
    int limit = Math.max(1, Math.min(mode.hits, reader.maxDoc()));
    return searcher.search(topic.query(), Lucene.countingAll(limit)).scoreDocs;
  }

  /** Throws when a timed search finds other documents than the run holds. */
  void check(Queries.Topic topic) throws IOException {
    ScoreDoc[] ranked = ranking.top(topic.query(), RUN_DEPTH);
    List<String> ids = List.of(ranking.ids(ranked));
    require(ids.equals(expected.documents(topic.id())), topic, "search");
    for (Mode mode : Mode.values()) {
      require(sameButForTies(ranked, search(topic, mode), mode.hits), topic, mode.toString());
    }
  }

  /** Same scores at every rank, and same documents, but for those tied with the last. */
  private static boolean sameButForTies(ScoreDoc[] ranked, ScoreDoc[] timed, int hits) {
    if (timed.length != Math.min(hits, ranked.length)) {
      return false;
    }
    Set<Integer> documents = new HashSet<>();
    for (ScoreDoc hit : ranked) {
      documents.add(hit.doc);
    }
    for (int i = 0; i < timed.length; i++) {
      boolean known =
          documents.contains(timed[i].doc)
              || same(timed[i].score, ranked[ranked.length - 1].score);
      if (!known || !same(timed[i].score, ranked[i].score)) {
        return false;
      }
    }
    return true;
  }

  private static boolean same(float a, float b) {
    return Math.abs(a - b) <= SAME_SCORE * Math.max(Math.abs(a), Math.abs(b));
  }

  private void require(boolean holds, Queries.Topic topic, String what) {
    if (!holds) {
      throw new IllegalStateException(
          "the timed " + what + " of query '" + topic.id() + "' on " + path
              + " returns other hits than the run " + run);
    }
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(expected, reader); // null before open
  }
}
