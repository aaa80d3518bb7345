import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;
import tdvlucene.search.Tiers;

/** Lucene for engines.py, by the protocol of engines_worker.py; started from source. */
public class EnginesLucene {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, Opened> OPEN = new HashMap<>();
  private static final Map<String, Query[]> QUERIES = new HashMap<>();
  private static volatile long seen; // so that no search can be left out by the compiler

  public static void main(String[] arguments) throws Exception {
    JsonNode sets = JSON.readTree(new File(arguments[0]));
    sets.fieldNames().forEachRemaining(set -> {
      Query[] parsed = new Query[sets.get(set).size()];
      for (int i = 0; i < parsed.length; i++) {
        parsed[i] = query(sets.get(set).get(i));
      }
      QUERIES.put(set, parsed);
    });
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line; (line = in.readLine()) != null; ) {
      out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
      out.flush();
    }
  }

  /** As Anserini's bag of words: a term that is repeated counts as often. */
  private static Query query(JsonNode terms) {
    Map<String, Integer> counts = new TreeMap<>();
    terms.forEach(term -> counts.merge(term.asText(), 1, Integer::sum));
    BooleanQuery.Builder builder = new BooleanQuery.Builder();
    counts.forEach((text, count) -> {
      Query term = new TermQuery(new Term("contents", text));
      builder.add(new BoostQuery(term, count), BooleanClause.Occur.SHOULD);
    });
    return builder.build();
  }

  private static Object answer(JsonNode asked) throws Exception {
    String what = asked.get("do").asText();
    if (what.equals("open")) {
      return open(asked);
    }
    if (what.equals("heap")) {
      System.gc();
      System.gc();
      return Map.of("bytes", Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
    }
    Opened index = OPEN.get(asked.get("index").asText());
    Query[] set = QUERIES.get(asked.get("set").asText());
    int k = asked.get("k").asInt();
    if (what.equals("hits")) {
      return hits(index, set, k);
    }
    if (what.equals("throughput")) {
      int threads = asked.get("threads").asInt();
      return throughput(index, set, k, threads, asked.get("seconds").asDouble());
    }
    long[] nanos = new long[set.length];
    for (JsonNode at : asked.get("order")) {
      Query query = set[at.asInt()];
      long start = System.nanoTime();
      seen += index.best(query, k).length;
      nanos[at.asInt()] = System.nanoTime() - start;
    }
    return Map.of("ns", nanos);
  }

  /** @param tiers null for one field */
  private record Opened(IndexSearcher searcher, Tiers tiers) {
    ScoreDoc[] best(Query query, int k) throws IOException {
      return Tiers.search(tiers, searcher, searcher, query, k);
    }
  }

  /** Opens the index, and searches once. */
  private static Object open(JsonNode asked) throws IOException {
    long start = System.nanoTime();
    Path path = Path.of(asked.get("path").asText());
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(FSDirectory.open(path)));
    float k1 = (float) asked.get("k1").asDouble();
    searcher.setSimilarity(new BM25Similarity(k1, (float) asked.get("b").asDouble()));
    searcher.setQueryCache(null);
    Opened index = new Opened(searcher, tiers(asked.get("tiers")));
    seen += index.best(QUERIES.values().iterator().next()[0], 10).length;
    double took = (System.nanoTime() - start) / 1e6;
    Opened before = OPEN.put(asked.get("index").asText(), index);
    if (before != null) {
      before.searcher.getIndexReader().close();
    }
    return Map.of("ms", took);
  }

  private static Tiers tiers(JsonNode given) {
    return given.isNull()
        ? null
        : new Tiers(
            given.get(0).asText(), given.get(1).asText(), given.get(2).asInt(),
            given.get(3).asDouble(), given.get(4).asDouble());
  }

  private static Object hits(Opened index, Query[] set, int k) throws IOException {
    List<Object> all = new ArrayList<>();
    StoredFields stored = index.searcher.storedFields();
    for (Query query : set) {
      List<Object> found = new ArrayList<>();
      for (ScoreDoc hit : index.best(query, k)) {
        found.add(stored.document(hit.doc, Set.of("id")).get("id"));
      }
      all.add(found);
    }
    return Map.of("hits", all);
  }

  private static Object throughput(
      Opened index, Query[] set, int k, int threads, double seconds) throws Exception {
    AtomicLong next = new AtomicLong();
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    List<Future<Long>> running = new ArrayList<>();
    long answered = 0;
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      for (int thread = 0; thread < threads; thread++) {
        running.add(pool.submit(() -> {
          long done = 0;
          for (; System.nanoTime() < end; done++) {
            Query query = set[(int) (next.getAndIncrement() % set.length)];
            index.best(query, k);
          }
          return done;
        }));
      }
      for (Future<Long> thread : running) {
        answered += thread.get();
      }
    }
    return Map.of("per_second", answered * 1e9 / (System.nanoTime() - start));
  }
}
