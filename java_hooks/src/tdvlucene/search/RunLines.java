package tdvlucene.search;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import tdvlucene.common.UserException;

/**
 * The lines of a TREC run for one topic, {@code qid Q0 docid rank score tag}, and their numbers.
 * Columns are separated by spaces without any quoting, so names with white space are refused.
 *
 * <p>Scores have six decimals, as {@code %f} prints them; that itself would take as long as the
 * search.
 */
final class RunLines {
  private static final double MILLION = 1e6;
  private static final long DIGITS = 1_000_000;
  private static final double DOUBTFUL = 1e-3;
  private static final double LARGEST = 1e9;
  private static final char NEXT_LINE = '\u0085'; // white space in Unicode and Python, not in Java

  private final String topic;
  private final String tag;
  private final Set<String> listed = new HashSet<>();
  private final StringBuilder text = new StringBuilder();

  /** By their numbers in the index. */
  final int[] documents;

  /** As they are read from the text again. */
  final double[] scores;

  private int size;

  RunLines(String topic, String tag, int size) {
    this.topic = topic;
    this.tag = tag;
    this.documents = new int[size];
    this.scores = new double[size];
  }

  /** Refuses query ids and a tag that no run can hold. */
  static void requireNames(List<String> queryIds, String tag) {
    for (String id : queryIds) {
      if (isBad(id)) {
        throw refuse("query id", id, "give the topic another id");
      }
    }
    if (isBad(tag)) {
      throw refuse("tag", tag, "choose another");
    }
  }

  /** Whether tools that read runs would take the name for another, or for several. */
  private static boolean isBad(String name) {
    return name == null || name.isEmpty() || name.chars().anyMatch(RunLines::isSpace);
  }

  private static boolean isSpace(int c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == NEXT_LINE;
  }

  private static UserException refuse(String kind, String name, String remedy) {
    String problem = name == null || name.isEmpty() ? "is empty" : "holds white space";
    return new UserException(
        "the " + kind + " '" + (name == null ? "" : name) + "' " + problem
            + ", and a run with it could not be read: " + remedy);
  }

  void add(int document, String id, float score) {
    if (isBad(id)) {
      throw refuse("document id", id, "index the documents again with other ids");
    }
    if (!listed.add(id)) {
      throw new UserException(
          "two documents have the id '" + id + "', and a run has each once: index the collection "
              + "again, each document with an id of its own; of shards that overlap, leave one out");
    }
    text.append(topic).append(" Q0 ").append(id).append(' ').append(size + 1).append(' ');
    documents[size] = document;
    scores[size] = append(text, score);
    text.append(' ').append(tag).append('\n');
    size++;
  }

  int size() {
    return size;
  }

  CharSequence text() {
    return text;
  }

  /** Appends a score as {@code %f} does, and returns what is read from that. */
  static double append(StringBuilder text, float score) {
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
