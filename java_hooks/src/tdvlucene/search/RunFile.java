package tdvlucene.search;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The documents of a run that a search wrote, a topic at a time: of millions of lines few are asked
 * for.
 *
 * <p>Memory: two numbers for each topic.
 */
final class RunFile implements Closeable {
  private final RandomAccessFile file;

  /** Of each topic, at which byte its lines begin and how many bytes they have. */
  private final Map<String, long[]> places = new HashMap<>();

  /** Reads the file once, to see where each topic's lines are. */
  RunFile(Path path) throws IOException {
    String prefix = null;
    long[] place = {0, 0};
    long at = 0;
    try (BufferedReader lines = Files.newBufferedReader(path, ISO_8859_1)) { // a byte a character
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (prefix == null || !line.startsWith(prefix)) {
          String topic = line.substring(0, line.indexOf(' '));
          prefix = topic + ' ';
          place = new long[] {at, 0};
          places.put(new String(topic.getBytes(ISO_8859_1), UTF_8), place);
        }
        int bytes = line.length() + 1;
        place[1] += bytes;
        at += bytes;
      }
    }
    file = new RandomAccessFile(path.toFile(), "r");
  }

  /** The ids of a topic's documents, as they are ranked; none where the run has no such topic. */
  List<String> documents(String topic) throws IOException {
    List<String> documents = new ArrayList<>();
    long[] place = places.get(topic);
    if (place != null) {
      byte[] lines = new byte[Math.toIntExact(place[1])];
      file.seek(place[0]);
      file.readFully(lines);
      for (String line : new String(lines, UTF_8).split("\n")) {
        documents.add(line.split(" ")[2]);
      }
    }
    return documents;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
