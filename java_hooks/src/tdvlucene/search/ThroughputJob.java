package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.Pool;

/**
 * Measures how many queries a second are answered when several threads search at once.
 *
 * <p>Each thread takes the next query of a shuffled list until the round's time is up. Indexes
 * take turns, and another one begins in each round. The first round of each index only warms up.
 */
public final class ThroughputJob extends Job {
  private static final int HITS = 10;

  private final Queries queries;
  private final int threads;
  private final int rounds;
  private final double roundSeconds;
  private final long seed;
  private final List<TimedIndex> indexes = new ArrayList<>();
  private final List<List<Double>> perSecond = new ArrayList<>();
  private final AtomicLong hitsSeen = new AtomicLong();

  public ThroughputJob(
      Queries queries, int threads, int rounds, double roundSeconds, long seed) {
    this.queries = queries;
    this.threads = threads;
    this.rounds = rounds;
    this.roundSeconds = roundSeconds;
    this.seed = seed;
  }

  public void addIndex(Index path, Similarity similarity) {
    indexes.add(new TimedIndex(path, similarity, null));
    perSecond.add(new ArrayList<>());
  }

  /** A JSON array: for each index, queries a second of each counted round. */
  @Override
  protected Object run() throws Exception {
    List<Queries.Topic> topics = queries.parse();
    Collections.shuffle(topics, new Random(seed));
    try {
      for (TimedIndex index : indexes) {
        index.open(this);
      }
      try (Pool pool = new Pool(threads)) { // closed first: no search outlives its reader
        runRounds(topics, pool);
      }
      return perSecond;
    } finally {
      IOUtils.close(indexes);
    }
  }

  private void runRounds(List<Queries.Topic> queries, Pool pool) throws IOException {
    phase("throughput", rounds);
    for (int round = -1; round < rounds; round++) {
      for (int i = 0; i < indexes.size(); i++) {
        int index = (i + round + 1) % indexes.size();
        double found = oneRound(indexes.get(index).ranking.searcher, queries, pool);
        if (round >= 0) {
          perSecond.get(index).add(found);
        }
      }
      progress(round + 1);
    }
  }

  private double oneRound(
      IndexSearcher searcher, List<Queries.Topic> queries, Pool pool) throws IOException {
    long start = System.nanoTime();
    long end = start + (long) (roundSeconds * 1e9);
    AtomicLong next = new AtomicLong();
    List<Future<Long>> running = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      running.add(pool.submit(() -> searchUntil(end, searcher, queries, next)));
    }
    long answered = 0;
    for (Future<Long> thread : running) {
      answered += Pool.get(thread);
    }
    return answered * 1e9 / (System.nanoTime() - start);
  }

  private long searchUntil(
      long end, IndexSearcher searcher, List<Queries.Topic> queries, AtomicLong next)
      throws IOException {
    long answered = 0;
    for (; answered == 0 || System.nanoTime() < end; answered++) {
      checkCancelled();
      Queries.Topic topic = queries.get((int) (next.getAndIncrement() % queries.size()));
      hitsSeen.addAndGet(searcher.search(topic.query(), HITS).scoreDocs.length);
    }
    return answered;
  }
}
