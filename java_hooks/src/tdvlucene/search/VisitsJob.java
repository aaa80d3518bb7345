package tdvlucene.search;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.search.IndexSearcher;
import tdvlucene.common.Job;
import tdvlucene.common.Pool;

/** Counts the postings at which searches stop: what they cost, whatever else the machine does. */
public final class VisitsJob extends Job {
  private final SearchedIndex searched;
  private final Queries queries;
  private final Tiers tiers;
  private final int hits;
  private final int threads;
  private final AtomicLong found = new AtomicLong();
  private final AtomicLong ranked = new AtomicLong();

  /**
   * @param searched an index that was opened; it stays open
   * @param tiers null to search the field of the queries alone
   */
  public VisitsJob(
      SearchedIndex searched, Queries queries, Tiers tiers, int hits, int threads) {
    this.searched = searched;
    this.queries = queries;
    this.tiers = tiers;
    this.hits = hits;
    this.threads = threads;
  }

  /** JSON: the postings of all topics together, in finding documents and in ranking them. */
  @Override
  protected Object run() throws Exception {
    IndexSearcher finding = CountingReader.like(searched.searcher(), found);
    IndexSearcher ranking = CountingReader.like(searched.searcher(), ranked);
    try (Pool pool = new Pool(threads)) {
      pool.run(
          queries.parse().stream()
              .map(topic -> (Pool.Task) () -> {
                checkCancelled();
                Tiers.search(tiers, finding, ranking, topic.query(), hits);
              })
              .toList());
    }
    return List.of(found.get(), ranked.get());
  }
}
