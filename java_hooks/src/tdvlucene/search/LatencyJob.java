package tdvlucene.search;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.Lucene;
import tdvlucene.common.NpyWriter;

/**
 * Times the same queries on several indexes, in this JVM and on one thread.
 *
 * <p>Queries are built beforehand and documents are not fetched: only the search of the inverted
 * index is timed. What is timed is Lucene's own search for the best documents. Anserini's search
 * also orders equal scores by id and scores the hits a second time; that costs the same on every
 * index and would hide the difference.
 *
 * <p>Rounds are repeated until their time is stable; only rounds after that count. Within a round
 * each index is timed on all queries in a newly shuffled order. Another index begins in each round,
 * so that a drift of the machine affects all alike.
 *
 * <p>To keep within the budget, fewer queries are timed: the first of a seeded shuffle, as many as
 * are tried in a share of the budget and can be timed in the rest. Writes int64 nanoseconds [round,
 * mode, index, query].
 */
public final class LatencyJob extends Job {
  /** How many hits are searched for: the modes. */
  private static final int[] HITS = {10, 1000};

  private static final int MOST_QUERIES = 1000;
  private static final int FEWEST_QUERIES = 20;
  private static final double TRIAL_SHARE = 0.3;
  private static final double WARM_UP_SHARE = 0.3;
  private static final double LEAST_WARM_UP_SECONDS = 2;
  private static final int STABLE_ROUNDS = 3;
  private static final double STABLE_WITHIN = 1.05;

  private record TimedIndex(Index index, Similarity similarity, Tiers tiers) {}

  /** A search that is timed; returns how many hits it finds. */
  private interface Search {
    int hits(Query query, int most) throws IOException;
  }

  private final Queries queries;
  private final int rounds;
  private final double budgetSeconds;
  private final Random random;
  private final boolean exhaustive;
  private final Path output;
  private final List<TimedIndex> indexes = new ArrayList<>();
  private final List<Search> searches = new ArrayList<>();
  private final Map<String, Object> result = new TreeMap<>();

  private long end;
  private List<Queries.Topic> sample;
  private long hitsSeen;

  /** @param exhaustive whether every posting is scored, in one field; block maxima skip none */
  public LatencyJob(
      Queries queries, int rounds, double budgetSeconds, long seed, boolean exhaustive,
      String output) {
    this.queries = queries;
    this.rounds = rounds;
    this.budgetSeconds = budgetSeconds;
    this.random = new Random(seed);
    this.exhaustive = exhaustive;
    this.output = Paths.get(output);
  }

  /** @param tiers null for a search of one field */
  public void addIndex(Index index, Similarity similarity, Tiers tiers) {
    indexes.add(new TimedIndex(index, similarity, tiers));
  }

  /** A JSON object: the queries timed in the order of the output, and how the warm-up went. */
  @Override
  protected Object run() throws Exception {
    end = System.nanoTime() + nanos(budgetSeconds);
    List<IndexReader> readers = new ArrayList<>();
    try {
      for (TimedIndex each : indexes) {
        readers.add(open(each.index));
        IndexSearcher searcher =
            new Ranking(readers.getLast(), each.index, each.similarity).searcher;
        searches.add(
            exhaustive
                ? (query, hits) ->
                    searcher.search(query, Lucene.countingAll(hits)).scoreDocs.length
                : (query, hits) ->
                    Tiers.search(each.tiers, searcher, searcher, query, hits).length);
      }
      List<Queries.Topic> shuffled = queries.parse();
      Collections.shuffle(shuffled, random);
      sample = fitting(shuffled.subList(0, Math.min(MOST_QUERIES, shuffled.size())));
      warmUp();
      try (NpyWriter nanos = new NpyWriter(output, "<i8")) {
        phase("timing", rounds);
        for (int round = 0; round < rounds; round++) {
          for (long one : round(round)) {
            nanos.writeLong(one);
          }
          progress(round + 1);
        }
      }
      result.put("queries", sample.stream().map(Queries.Topic::id).toList());
      return result;
    } finally {
      IOUtils.close(readers);
    }
  }

  /** Searches once for each topic; returns those that fitted in the time. */
  private List<Queries.Topic> fitting(List<Queries.Topic> candidates) throws IOException {
    phase("trying queries", candidates.size());
    long triedBy = System.nanoTime() + nanos(budgetSeconds * TRIAL_SHARE);
    int tried = 0;
    while (tried < candidates.size()
        && (tried < FEWEST_QUERIES || System.nanoTime() < triedBy)) {
      for (Search search : searches) {
        for (int hits : HITS) {
          search.hits(candidates.get(tried).query(), hits);
        }
      }
      progress(++tried);
    }
    return candidates.subList(0, tried);
  }

  /**
   * Repeats rounds until three in succession come near the fastest so far, for two seconds at
   * least: in less, the compiler may not have got beyond its first, stable looking, tier.
   */
  private void warmUp() throws IOException {
    phase("warming up", 0);
    long start = System.nanoTime();
    long least = nanos(Math.min(LEAST_WARM_UP_SECONDS, budgetSeconds * WARM_UP_SHARE));
    long most = nanos(budgetSeconds * WARM_UP_SHARE);
    long fastest = Long.MAX_VALUE;
    int near = 0;
    int done = 0;
    boolean stable = false;
    while (!stable && (done < STABLE_ROUNDS || System.nanoTime() - start < most)) {
      long before = System.nanoTime();
      round(done);
      long took = System.nanoTime() - before;
      fastest = shrinkToFit(took) ? Long.MAX_VALUE : Math.min(fastest, took);
      near = fastest < Long.MAX_VALUE && took <= fastest * STABLE_WITHIN ? near + 1 : 0;
      stable = near >= STABLE_ROUNDS && System.nanoTime() - start >= least;
      progress(++done);
    }
    result.put("warmup_rounds", done);
    result.put("warmup_stable", stable);
  }

  /** Drops queries when rounds that take so long would end after the budget; says whether. */
  private boolean shrinkToFit(long roundNanos) {
    double fits = (double) (end - System.nanoTime()) / (rounds * roundNanos);
    int most = (int) Math.max(FEWEST_QUERIES, fits * sample.size());
    if (most >= sample.size()) {
      return false;
    }
    sample = sample.subList(0, most);
    return true;
  }

  /** Nanoseconds of every search of one round: [mode, index, query], flat. */
  private long[] round(int number) throws IOException {
    long[] nanos = new long[HITS.length * indexes.size() * sample.size()];
    for (int mode = 0; mode < HITS.length; mode++) {
      for (int i = 0; i < indexes.size(); i++) {
        int index = (i + number) % indexes.size();
        int first = (mode * indexes.size() + index) * sample.size();
        List<Integer> order = new ArrayList<>(IntStream.range(0, sample.size()).boxed().toList());
        Collections.shuffle(order, random);
        for (int query : order) {
          checkCancelled();
          Query asked = sample.get(query).query();
          long before = System.nanoTime();
          int hits = searches.get(index).hits(asked, HITS[mode]);
          nanos[first + query] = System.nanoTime() - before;
          hitsSeen += hits; // used, so that no search can be left out by the compiler
        }
      }
    }
    return nanos;
  }

  private static long nanos(double seconds) {
    return (long) (seconds * 1e9);
  }
}
