package tdvlucene.search;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.search.IndexSearcher;
import tdvlucene.common.Job;
import tdvlucene.common.Pool;

/** Counts the postings at which searches stop: what they cost, whatever else the machine does. */
public final class VisitsJob extends Job {
  private final SearchedIndex searched;
  private final Queries queries;
  private final int hits;
  private final int threads;

  /** @param searched an index that was opened; it stays open */
  public VisitsJob(SearchedIndex searched, Queries queries, int hits, int threads) {
    this.searched = searched;
    this.queries = queries;
    this.hits = hits;
    this.threads = threads;
  }

  /** JSON: the postings of all topics together. */
  @Override
  protected Object run() throws Exception {
    AtomicLong visited = new AtomicLong();
    IndexSearcher counting = CountingReader.like(searched.searcher(), visited);
    try (Pool pool = new Pool(threads)) {
      pool.run(
          queries.parse().stream()
              .map(topic -> (Pool.Task) () -> {
                checkCancelled();
                searched.search(counting, topic, hits);
              })
              .toList());
    }
    return visited.get();
  }
}
