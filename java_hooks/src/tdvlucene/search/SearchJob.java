package tdvlucene.search;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.lucene.search.ScoreDoc;
import tdvlucene.common.Job;
import tdvlucene.common.Pool;

/**
 * Searches topics and writes the best documents of each, with the scores they were ranked by: see
 * {@link HitArrays}.
 *
 * <p>Several threads search; hits are written in the order of the topics, and memory is bounded by
 * a few queries for each thread.
 */
public final class SearchJob extends Job {
  private static final int QUEUED_PER_THREAD = 4;

  private final SearchedIndex searched;
  private final Queries queries;
  private final int hits;
  private final int threads;
  private final Path folder;

  /** @param searched an index that was opened; it stays open */
  public SearchJob(SearchedIndex searched, Queries queries, int hits, int threads, String folder) {
    this.searched = searched;
    this.queries = queries;
    this.hits = hits;
    this.threads = threads;
    this.folder = Paths.get(folder);
  }

  @Override
  protected Object run() throws Exception {
    reads(searched.index);
    try (HitArrays arrays = new HitArrays(folder, searched.reader.maxDoc());
        Pool pool = new Pool(threads)) { // closed first, for the reader may be closed after this
      search(arrays, pool);
      arrays.writeIds(searched.reader, searched.index);
    }
    return null;
  }

  private void search(HitArrays arrays, Pool pool) throws IOException {
    List<Queries.Topic> topics = queries.parse();
    phase("searching", topics.size());
    Iterator<Queries.Topic> waiting = topics.iterator();
    Deque<Future<ScoreDoc[]>> running = new ArrayDeque<>();
    while (waiting.hasNext() || !running.isEmpty()) {
      if (waiting.hasNext() && running.size() < threads * QUEUED_PER_THREAD) {
        Queries.Topic topic = waiting.next();
        running.add(pool.submit(() -> {
          checkCancelled(); // so that what is queued ends at once
          return searched.search(topic, hits);
        }));
      } else {
        arrays.write(Pool.get(running.remove()));
        advance(1);
      }
    }
  }
}
