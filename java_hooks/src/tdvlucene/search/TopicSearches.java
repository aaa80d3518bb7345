package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Future;
import tdvlucene.common.Pool;

/**
 * Searches topics on several threads and hands over what they find in the topics' order. Memory is
 * bounded by a few queries for each thread.
 */
final class TopicSearches {
  private static final int QUEUED_PER_THREAD = 4;

  private TopicSearches() {}

  /** What is done with a topic, on any thread. */
  interface Search<T> {
    T of(Queries.Topic topic) throws IOException;
  }

  /** What is done with what it found, on the caller's thread. */
  interface Taking<T> {
    void take(Queries.Topic topic, T found) throws IOException;
  }

  static <T> void each(
      List<Queries.Topic> topics, Search<T> search, Pool pool, int threads, Taking<T> taking)
      throws IOException {
    Iterator<Queries.Topic> waiting = topics.iterator();
    Deque<Future<T>> running = new ArrayDeque<>();
    for (Queries.Topic done : topics) {
      while (waiting.hasNext() && running.size() < threads * QUEUED_PER_THREAD) {
        Queries.Topic topic = waiting.next();
        running.add(pool.submit(() -> search.of(topic)));
      }
      taking.take(done, Pool.get(running.remove()));
    }
  }
}
