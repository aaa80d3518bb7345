package tdvlucene.search;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.Pool;

/**
 * Searches a set of topics and writes a TREC run, {@code qid Q0 docid rank score tag}.
 *
 * <p>Hits and scores are those of Anserini's {@code SimpleSearcher}. Several threads search; lines
 * are written in the order of the topics, and memory is bounded by a few queries for each thread.
 */
public final class SearchJob extends Job {
  private final String index;
  private final Similarity similarity;
  private final Queries queries;
  private final int hits;
  private final int threads;
  private final String tag;
  private final Path output;
  private String feedback; // null for none
  private Path folder; // null for no arrays

  private final List<String> empty = new ArrayList<>();
  private long written;

  public SearchJob(
      String index, Similarity similarity, Queries queries, int hits, int threads, String tag,
      String output) {
    this.index = index;
    this.similarity = similarity;
    this.queries = queries;
    this.hits = hits;
    this.threads = threads;
    this.tag = tag;
    this.output = Paths.get(output);
  }

  /** Expand queries by {@code rm3} or {@code rocchio}; see {@link Feedback}. */
  public void expand(String method) {
    feedback = method;
  }

  /** Also writes the run as arrays into an existing folder, see {@link RunArrays}. */
  public void writeArrays(String folder) {
    this.folder = Paths.get(folder);
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
        RunArrays arrays = folder == null ? null : new RunArrays(folder, reader.maxDoc());
        Feedback expanding = expansion(reader);
        Pool pool = new Pool(threads)) { // closed first: no search outlives its reader
      Searchable.require(
          reader, index, queries.field, bytes -> phase("checking the index", bytes), this::advance);
      List<Queries.Topic> topics = queries.parse();
      RunLines.requireNames(topics.stream().map(topic -> topic.id).collect(Collectors.toList()), tag);
      Ranking ranking = new Ranking(reader, index, similarity);
      phase("searching", topics.size());
      TopicSearches.each(
          topics,
          topic -> expanding == null ? lines(ranking, topic) : lines(expanding, topic),
          pool, threads,
          (topic, lines) -> write(topic, lines, out, arrays));
      if (arrays != null) {
        arrays.writeNames(reader, index);
      }
    }
  }

  private Feedback expansion(DirectoryReader reader)
      throws IOException, ReflectiveOperationException {
    return feedback == null ? null : Feedback.open(index, reader, similarity, queries, feedback);
  }

  private void write(
      Queries.Topic topic, RunLines lines, BufferedWriter out, RunArrays arrays)
      throws IOException {
    if (lines.size() == 0) {
      empty.add(topic.id);
    }
    out.append(lines.text());
    if (arrays != null) {
      arrays.write(lines);
    }
    written += lines.size();
    advance(1);
  }

  private RunLines lines(Ranking ranking, Queries.Topic topic) throws IOException {
    checkCancelled(); // so that what is queued ends at once
    ScoreDoc[] found = ranking.topOfOneSearch(topic.query, hits);
    float[] scores = ranking.printedScores(found);
    String[] ids = ranking.ids(found);
    RunLines lines = new RunLines(topic.id, tag, found.length);
    for (int i = 0; i < found.length; i++) {
      lines.add(found[i].doc, ids[i], scores[i]);
    }
    return lines;
  }

  private RunLines lines(Feedback expanding, Queries.Topic topic) throws IOException {
    checkCancelled();
    Object[] found = expanding.search(topic.text, hits);
    RunLines lines = new RunLines(topic.id, tag, found.length);
    for (Object hit : found) {
      lines.add(Feedback.document(hit), Feedback.id(hit), Feedback.score(hit));
    }
    return lines;
  }
}
