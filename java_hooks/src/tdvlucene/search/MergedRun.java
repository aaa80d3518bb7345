package tdvlucene.search;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.store.IndexInput;
import tdvlucene.common.Json;
import tdvlucene.common.NpyFolder;

/** Writes a TREC run of hits that were found elsewhere, as {@link SearchJob} writes its own. */
public final class MergedRun {
  private static final int NO_NUMBER = -1; // of a document here

  private MergedRun() {}

  /**
   * Refuses query ids and a tag that no run can hold.
   *
   * @param queryIds a JSON array
   */
  public static void requireNames(String queryIds, String tag) {
    RunLines.requireNames(Json.parseStrings(queryIds), tag);
  }

  /**
   * Appends to a run what a folder holds, in the arrays of {@link HitsJob}; a JSON object of {@code
   * hits} written and {@code queries_without_hits}. Refuses a document that a topic has twice.
   *
   * @param queryIds a JSON array, of the topics in the folder
   * @param tiesById whether scores are printed as of an index whose ties are ordered by id
   */
  public static String append(
      String folder, String queryIds, boolean tiesById, String tag, String output)
      throws IOException {
    List<String> empty = new ArrayList<>();
    long written = 0;
    try (NpyFolder arrays = new NpyFolder(folder);
        BufferedWriter out =
            Files.newBufferedWriter(
                Paths.get(output), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      IndexInput counts = arrays.array("counts.npy");
      IndexInput scores = arrays.array("scores.npy");
      IndexInput text = arrays.array("text.npy");
      IndexInput ends = arrays.array("ends.npy");
      for (String id : Json.parseStrings(queryIds)) {
        float[] printed = new float[Math.toIntExact(counts.readLong())];
        scores.readFloats(printed, 0, printed.length);
        if (tiesById) {
          Ranking.lowerTies(printed);
        }
        RunLines lines = new RunLines(id, tag, printed.length);
        for (float score : printed) {
          byte[] name = new byte[Math.toIntExact(ends.readLong() - text.getFilePointer())];
          text.readBytes(name, 0, name.length);
          lines.add(NO_NUMBER, new String(name, StandardCharsets.UTF_8), score);
        }
        out.append(lines.text());
        written += printed.length;
        if (printed.length == 0) {
          empty.add(id);
        }
      }
    }
    return Json.of(new TreeMap<>(Map.of("hits", written, "queries_without_hits", empty)));
  }
}
