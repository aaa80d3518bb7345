package tdvlucene.search;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.lucene.store.IndexInput;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.NpyFolder;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.UserException;

/**
 * Appends hits to a TREC run, {@code qid Q0 docid rank score tag}; columns are separated by spaces
 * without any quoting, so names with white space are refused.
 *
 * <p>Scores have six decimals, as {@code %f} prints them; that itself would take as long as the
 * search.
 */
public final class RunJob extends Job {
  private static final double MILLION = 1e6;
  private static final long DIGITS = 1_000_000;
  private static final double DOUBTFUL = 1e-3;
  private static final double LARGEST = 1e9;
  private static final char NEXT_LINE = '\u0085'; // white space in Unicode and Python, not in Java

  private final Path folder;
  private final List<String> topics;
  private final boolean tiesById;
  private final String tag;
  private final Path output;
  private final List<String> empty = new ArrayList<>();
  private long written;

  /**
   * @param folder has the arrays of {@link HitArrays}, in which a document's number is its place
   *     among the ids; gets {@code printed.npy}, float64, the scores as they are read from the run
   * @param topics a JSON array of query ids
   * @param tiesById whether scores are printed as of an index whose ties are ordered by id
   */
  public RunJob(String folder, String topics, boolean tiesById, String tag, String output) {
    this.folder = Paths.get(folder);
    this.topics = Json.parseStrings(topics);
    this.tiesById = tiesById;
    this.tag = tag;
    this.output = Paths.get(output);
  }

  /**
   * Refuses query ids and a tag that no run can hold.
   *
   * @param queryIds a JSON array
   */
  public static void requireNames(String queryIds, String tag) {
    for (String id : Json.parseStrings(queryIds)) {
      require("query id", id, "give the topic another id");
    }
    require("tag", tag, "choose another");
  }

  /** A JSON object: hits written, and the ids of queries that found nothing. */
  @Override
  protected Object run() throws IOException {
    phase("writing the run", topics.size());
    try (NpyFolder arrays = new NpyFolder(folder.toString());
        NpyWriter printed = new NpyWriter(folder.resolve("printed.npy"), "<f8");
        BufferedWriter out =
            Files.newBufferedWriter(
                output, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      String[] ids = ids(arrays);
      IndexInput counts = arrays.array("counts.npy");
      IndexInput scores = arrays.array("scores.npy");
      IndexInput documents = arrays.array("documents.npy");
      for (String topic : topics) {
        float[] shown = new float[Math.toIntExact(counts.readLong())];
        scores.readFloats(shown, 0, shown.length);
        if (tiesById) {
          Ranking.lowerTies(shown);
        }
        StringBuilder lines = new StringBuilder();
        Set<String> listed = new HashSet<>();
        for (int i = 0; i < shown.length; i++) {
          String id = ids[documents.readInt()];
          require("document id", id, "index the documents again with other ids");
          requireNew(id, listed);
          lines.append(topic).append(" Q0 ").append(id).append(' ').append(i + 1).append(' ');
          printed.writeLong(Double.doubleToRawLongBits(append(lines, shown[i])));
          lines.append(' ').append(tag).append('\n');
        }
        out.append(lines);
        written += shown.length;
        if (shown.length == 0) {
          empty.add(topic);
        }
        advance(1);
      }
    }
    return new TreeMap<>(Map.of("hits", written, "queries_without_hits", empty));
  }

  private static String[] ids(NpyFolder arrays) throws IOException {
    IndexInput text = arrays.array("text.npy");
    IndexInput ends = arrays.array("ends.npy");
    String[] ids = new String[Math.toIntExact(ends.length() / Long.BYTES)];
    for (int i = 0; i < ids.length; i++) {
      byte[] id = new byte[Math.toIntExact(ends.readLong() - text.getFilePointer())];
      text.readBytes(id, 0, id.length);
      ids[i] = new String(id, StandardCharsets.UTF_8);
    }
    return ids;
  }

  private static void requireNew(String id, Set<String> listed) {
    if (!listed.add(id)) {
      throw new UserException(
          "two documents have the id '" + id + "', and a run has each once: index the collection "
              + "again, each document with an id of its own; of shards that overlap, leave one out");
    }
  }

  /** Refuses a name that tools that read runs would take for another, or for several. */
  private static void require(String kind, String name, String remedy) {
    if (name.isEmpty() || name.chars().anyMatch(RunJob::isSpace)) {
      String problem = name.isEmpty() ? "is empty" : "holds white space";
      throw new UserException(
          "the " + kind + " '" + name + "' " + problem + ", and a run with it could not be read: "
              + remedy);
    }
  }

  private static boolean isSpace(int c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == NEXT_LINE;
  }

  /** Appends a score as {@code %f} does, and returns what is read from that. */
  private static double append(StringBuilder text, float score) {
    double millionths = score * MILLION;
    double fraction = millionths - Math.floor(millionths);
    if (!(score >= 0 && score < LARGEST) || Math.abs(fraction - 0.5) < DOUBTFUL) {
      String printed = String.format(Locale.ROOT, "%f", score);
      text.append(printed);
      return Double.parseDouble(printed);
    }
    long rounded = (long) Math.floor(millionths + 0.5);
    text.append(rounded / DIGITS).append('.');
    String decimals = Long.toString(DIGITS + rounded % DIGITS); // a 1 and six digits
    text.append(decimals, 1, decimals.length());
    return rounded / MILLION; // of whole numbers, so rounded as the decimals are when read
  }
}
