package tdvlucene.search;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
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
 * index is timed. First the hits are checked against the run. Then rounds are repeated until their
 * time is stable; only rounds after that count. Within a round each index is timed on all queries
 * in a newly shuffled order. Another index begins in each round, so that a drift of the machine
 * affects all alike.
 *
 * <p>To keep within the budget, fewer queries are timed: the first of a seeded shuffle, as many as
 * can be checked in a share of the budget and timed in the rest. Writes int64 nanoseconds [round,
 * mode, index, query]. Finally it counts the postings at which each search stops.
 */
public final class LatencyJob extends Job {
  /** A kind of search: so many hits, with or without skipping by block maxima. */
  private enum Mode {
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

  private static final int MOST_QUERIES = 1000;
  private static final int FEWEST_QUERIES = 20;
  private static final double CHECK_SHARE = 0.3;
  private static final double WARM_UP_SHARE = 0.3;
  private static final double LEAST_WARM_UP_SECONDS = 2;
  private static final int STABLE_ROUNDS = 3;
  private static final double STABLE_WITHIN = 1.05;
  /** Without skipping, a search stops at the same postings whatever the hits wanted. */
  private static final List<Mode> COUNTED =
      List.of(Mode.TOP10, Mode.TOP1000, Mode.TOP10_EXHAUSTIVE);

  private final Queries queries;
  private final int rounds;
  private final double budgetSeconds;
  private final Random random;
  private final Path output;
  private final List<TimedIndex> indexes = new ArrayList<>();
  private final Map<String, Object> result = new TreeMap<>();

  private long end;
  private List<Queries.Topic> sample;
  private long hitsSeen;

  public LatencyJob(
      Queries queries, int rounds, double budgetSeconds, long seed, String output) {
    this.queries = queries;
    this.rounds = rounds;
    this.budgetSeconds = budgetSeconds;
    this.random = new Random(seed);
    this.output = Paths.get(output);
  }

  /**
   * Adds an index, and the run that the same similarity gave on it.
   *
   * @param tiers null for a search of one field
   */
  public void addIndex(Index path, Similarity similarity, Tiers tiers, String run) {
    indexes.add(new TimedIndex(path, similarity, tiers, run));
  }

  /** A JSON object: the queries timed in the order of the output, and how the warm-up went. */
  @Override
  protected Object run() throws Exception {
    end = System.nanoTime() + nanos(budgetSeconds);
    try {
      List<Queries.Topic> shuffled = queries.parse();
      Collections.shuffle(shuffled, random);
      sample = check(shuffled.subList(0, Math.min(MOST_QUERIES, shuffled.size())));
      warmUp();
      try (NpyWriter nanos = new NpyWriter(output, "<i8")) {
        phase("timing", rounds);
        long collections = garbage(GarbageCollectorMXBean::getCollectionCount);
        long millis = garbage(GarbageCollectorMXBean::getCollectionTime);
        for (int round = 0; round < rounds; round++) {
          write(round(round), nanos);
          progress(round + 1);
        }
        result.put(
            "gc_collections", garbage(GarbageCollectorMXBean::getCollectionCount) - collections);
        result.put("gc_ms", garbage(GarbageCollectorMXBean::getCollectionTime) - millis);
      }
      result.put("postings_visited", countPostings());
      result.put("queries", sample.stream().map(Queries.Topic::id).toList());
      result.put("hits_seen", hitsSeen);
      return result;
    } finally {
      IOUtils.close(indexes);
    }
  }

  /** Compares hits with the runs; returns the topics that fitted in the time. */
  private List<Queries.Topic> check(List<Queries.Topic> candidates) throws IOException {
    phase("checking hits", candidates.size());
    for (TimedIndex index : indexes) {
      index.open(this, candidates);
    }
    long checkedBy = System.nanoTime() + nanos(budgetSeconds * CHECK_SHARE);
    int checked = 0;
    while (checked < candidates.size()
        && (checked < FEWEST_QUERIES || System.nanoTime() < checkedBy)) {
      for (TimedIndex index : indexes) {
        index.check(candidates.get(checked));
      }
      progress(++checked);
    }
    return candidates.subList(0, checked);
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
    int toCome = rounds + 1; // counting postings takes about as long as a round
    double fits = (double) (end - System.nanoTime()) / (toCome * roundNanos);
    int most = (int) Math.max(FEWEST_QUERIES, fits * sample.size());
    if (most >= sample.size()) {
      return false;
    }
    sample = sample.subList(0, most);
    return true;
  }

  /** Nanoseconds [mode, index, query] of every search of one round. */
  private long[][][] round(int number) throws IOException {
    long[][][] nanos = new long[Mode.values().length][indexes.size()][sample.size()];
    for (Mode mode : Mode.values()) {
      for (int i = 0; i < indexes.size(); i++) {
        int index = (i + number) % indexes.size();
        time(mode, indexes.get(index), nanos[mode.ordinal()][index]);
      }
    }
    return nanos;
  }

  private void time(Mode mode, TimedIndex index, long[] nanos) throws IOException {
    List<Integer> order = new ArrayList<>();
    for (int query = 0; query < nanos.length; query++) {
      order.add(query);
    }
    Collections.shuffle(order, random);
    for (int query : order) {
      checkCancelled();
      Queries.Topic topic = sample.get(query);
      long before = System.nanoTime();
      int hits = index.search(topic, mode).length;
      nanos[query] = System.nanoTime() - before;
      hitsSeen += hits; // used, so that no search can be left out by the compiler
    }
  }

  /** Postings stopped at, [counted mode][index][query]. */
  private long[][][] countPostings() throws IOException {
    phase("counting postings", (long) COUNTED.size() * indexes.size());
    long[][][] counts = new long[COUNTED.size()][indexes.size()][sample.size()];
    for (int mode = 0; mode < counts.length; mode++) {
      for (int index = 0; index < indexes.size(); index++) {
        for (int query = 0; query < sample.size(); query++) {
          checkCancelled();
          counts[mode][index][query] =
              indexes.get(index).countPostings(sample.get(query), COUNTED.get(mode));
        }
        advance(1);
      }
    }
    return counts;
  }

  private static void write(long[][][] nanos, NpyWriter out) throws IOException {
    for (long[][] mode : nanos) {
      for (long[] index : mode) {
        for (long query : index) {
          out.writeLong(query);
        }
      }
    }
  }

  /** Garbage collections so far, or their time: they may interrupt a timed round. */
  private static long garbage(ToLongFunction<GarbageCollectorMXBean> figure) {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(bean -> Math.max(0, figure.applyAsLong(bean))) // -1 where unknown
        .sum();
  }

  private static long nanos(double seconds) {
    return (long) (seconds * 1e9);
  }

  /**
   * An index whose searches are timed, and the run with which its hits must agree.
   *
   * <p>What is timed is Lucene's own search for the best documents. Anserini's search also orders
   * equal scores by id and scores the hits a second time; that costs the same on every index and
   * would hide the difference.
   */
  private static final class TimedIndex implements Closeable {
    private static final int RUN_DEPTH = 1000;
    /** Skipping or not, the terms of a sum come in another order: float scores differ by so much. */
    private static final float SAME_SCORE = 1e-5f;

    private final Index path;
    private final String run;
    private final Similarity similarity;
    private final Tiers tiers;
    private Map<String, List<String>> expected;
    IndexReader reader;
    Ranking ranking;
    private final AtomicLong visited = new AtomicLong();
    private IndexSearcher counting;

    /** @param run what the same similarity gave on this index, 1000 hits deep */
    TimedIndex(Index path, Similarity similarity, Tiers tiers, String run) {
      this.path = path;
      this.similarity = similarity;
      this.tiers = tiers;
      this.run = run;
    }

    /** Opens the index, and reads what the run has of some topics. */
    void open(Job job, List<Queries.Topic> topics) throws IOException {
      reader = job.open(path);
      ranking = new Ranking(reader, path, similarity, tiers);
      expected = new HashMap<>();
      topics.forEach(topic -> expected.put(topic.id(), new ArrayList<>()));
      try (BufferedReader lines = Files.newBufferedReader(Paths.get(run))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          String[] columns = line.split(" ", 4);
          if (expected.containsKey(columns[0])) {
            expected.get(columns[0]).add(columns[2]);
          }
        }
      }
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
        counting = CountingReader.like(ranking.searcher, visited);
      }
      search(counting, topic, mode);
      return visited.getAndSet(0);
    }

    private ScoreDoc[] search(IndexSearcher searcher, Queries.Topic topic, Mode mode)
        throws IOException {
      return tiers == null || !tiers.answer(topic.query())
          ? search(searcher, topic.query(), mode.hits, mode.exhaustive)
          : tiers.search(
              searcher, topic.query(), mode.hits,
              (hot, wanted, most) ->
                  mode.exhaustive
                      ? search(searcher, hot, most, true)
                      : tiers.find(searcher, hot, wanted, most));
    }

    private ScoreDoc[] search(IndexSearcher searcher, Query query, int hits, boolean exhaustive)
        throws IOException {
      if (!exhaustive) {
        return searcher.search(query, hits).scoreDocs;
      }
      int limit = Math.max(1, Math.min(hits, reader.maxDoc()));
      return searcher.search(query, Lucene.countingAll(limit)).scoreDocs;
    }

    /** Throws when a timed search finds other documents than the run holds. */
    void check(Queries.Topic topic) throws IOException {
      ScoreDoc[] ranked = ranking.top(topic.query(), RUN_DEPTH);
      List<String> ids = List.of(ranking.ids(ranked));
      require(isListed(topic.id(), ids, expected.get(topic.id())), topic, "search");
      Query query = topic.query();
      if (tiers != null && tiers.answer(query)) { // what differs in a rounding may be found or not: the first tier agrees
        query = tiers.hotQuery(ranking.searcher, query);
        ranked = ranking.searcher.search(query, RUN_DEPTH).scoreDocs;
      }
      for (Mode mode : Mode.values()) {
        ScoreDoc[] timed = search(ranking.searcher, query, mode.hits, mode.exhaustive);
        require(sameButForTies(ranked, timed, mode.hits), topic, mode.toString());
      }
    }

    /**
     * Whether a run lists these ids, in their order: it leaves out a query's own document, an id or
     * a document that it has listed already, and may have documents in place of their passages.
     */
    private static boolean isListed(String topic, List<String> ids, List<String> listed) {
      Set<String> met = new HashSet<>(Set.of(topic));
      int next = 0;
      for (String id : ids) {
        String document = id.split(DocumentIds.PASSAGE, 2)[0];
        String expects = next < listed.size() ? listed.get(next) : null;
        if (id.equals(expects) || document.equals(expects)) {
          met.add(expects);
          next++;
        } else if (!met.contains(id) && !met.contains(document)) {
          return false;
        }
      }
      return next == listed.size();
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
      IOUtils.close(reader); // null before open
    }
  }
}
