package tdvlucene.search;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Damage;
import tdvlucene.common.Indexes;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.Pool;
import tdvlucene.common.Shards;
import tdvlucene.common.UserException;

/**
 * Searches a set of topics and writes a TREC run, {@code qid Q0 docid rank score tag}.
 *
 * <p>Hits and scores are those of Anserini's {@code SimpleSearcher}. Several threads search; lines
 * are written in the order of the topics, and memory is bounded by a few queries for each thread.
 */
public final class SearchJob extends Job {
  private static final int QUEUED_PER_THREAD = 4;

  private final String index;
  private final Similarity similarity;
  private final String field;
  private final String topics;
  private final int hits;
  private final int threads;
  private final String tag;
  private final Path output;
  private final boolean severalShards;
  private String feedback; // null for none

  private final List<String> empty = new ArrayList<>();
  private long written;

  /** @param topics a JSON array of [query id, text] */
  public SearchJob(
      String index, Similarity similarity, String field, String topics, int hits, int threads,
      String tag, String output) {
    this.index = index;
    this.severalShards = Shards.areSeveral(index);
    this.similarity = similarity;
    this.field = field;
    this.topics = topics;
    this.hits = hits;
    this.threads = threads;
    this.tag = tag;
    this.output = Paths.get(output);
  }

  /** Expand queries by {@code rm3} or {@code rocchio}; see {@link Feedback}. */
  public void expand(String method) {
    feedback = method;
  }

  /** A JSON object: hits written, and the ids of queries that found nothing. */
  @Override
  public String result() {
    return Json.of(new TreeMap<>(Map.of("hits", written, "queries_without_hits", empty)));
  }

  @Override
  protected void run() throws Exception {
    try (DirectoryReader reader = open(index);
        BufferedWriter out = Files.newBufferedWriter(output);
        Feedback expanding = expansion(reader);
        Pool pool = new Pool(threads)) { // closed first: no search outlives its reader
      Indexes.requireFrequencies(reader, index, field);
      Damage.refuseSearched(
          index, bytes -> phase("checking the index", bytes), this::advance);
      List<Queries.Topic> queries = Queries.parse(field, topics);
      requireNames(queries);
      Ranking ranking = new Ranking(reader, similarity);
      search(
          topic -> expanding == null ? lines(ranking, topic) : lines(expanding, topic),
          queries, pool, out);
    }
  }

  private void requireNames(List<Queries.Topic> queries) {
    for (Queries.Topic topic : queries) {
      if (RunNames.isBad(topic.id)) {
        throw RunNames.refuse("query id", topic.id, "give the topic another id");
      }
    }
    if (RunNames.isBad(tag)) {
      throw RunNames.refuse("tag", tag, "choose another");
    }
  }

  private Feedback expansion(DirectoryReader reader) throws ReflectiveOperationException {
    return feedback == null ? null : Feedback.open(index, reader, similarity, feedback);
  }

  private interface Search {
    List<String> lines(Queries.Topic topic) throws IOException;
  }

  private void search(
      Search search, List<Queries.Topic> queries, Pool pool, BufferedWriter out)
      throws IOException {
    phase("searching", queries.size());
    Iterator<Queries.Topic> waiting = queries.iterator();
    Deque<Future<List<String>>> running = new ArrayDeque<>();
    for (int done = 0; done < queries.size(); done++) {
      while (waiting.hasNext() && running.size() < threads * QUEUED_PER_THREAD) {
        Queries.Topic topic = waiting.next();
        running.add(pool.submit(() -> search.lines(topic)));
      }
      List<String> lines = Pool.get(running.remove());
      if (lines.isEmpty()) {
        empty.add(queries.get(done).id);
      }
      for (String line : lines) {
        out.write(line);
      }
      written += lines.size();
      progress(done + 1);
    }
  }

  private List<String> lines(Ranking ranking, Queries.Topic topic) throws IOException {
    checkCancelled(); // so that what is queued ends at once
    ScoreDoc[] found = ranking.top(topic.query, hits);
    float[] scores = ranking.printedScores(found);
    List<String> lines = new ArrayList<>(found.length);
    Set<String> listed = new HashSet<>();
    for (int i = 0; i < found.length; i++) {
      String id = ranking.id(found[i]);
      if (severalShards && !listed.add(id)) {
        throw new UserException(
            "the document '" + id + "' is in two shards of " + index + ": leave one of them out");
      }
      lines.add(line(topic, id, i + 1, scores[i]));
    }
    return lines;
  }

  private List<String> lines(Feedback expanding, Queries.Topic topic) throws IOException {
    checkCancelled();
    Object[] found = expanding.search(topic.text, hits);
    List<String> lines = new ArrayList<>(found.length);
    for (Object hit : found) {
      lines.add(line(topic, Feedback.id(hit), lines.size() + 1, Feedback.score(hit)));
    }
    return lines;
  }

  private String line(Queries.Topic topic, String id, int rank, float score) {
    if (RunNames.isBad(id)) {
      throw RunNames.refuse("document id", id, "index the documents again with other ids");
    }
    return String.format(Locale.ROOT, "%s Q0 %s %d %f %s\n", topic.id, id, rank, score, tag);
  }
}
