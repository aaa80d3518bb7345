package tdvlucene.search;

import java.util.List;
import tdvlucene.common.UserException;

/** Checks the names in a run, whose columns are separated by spaces without any quoting. */
final class RunNames {
  private static final char NEXT_LINE = '\u0085'; // white space in Unicode and Python, not in Java

  private RunNames() {}

  /** Refuses query ids and a tag that no run can hold. */
  static void require(List<String> queryIds, String tag) {
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
  static boolean isBad(String name) {
    return name == null || name.isEmpty() || name.chars().anyMatch(RunNames::isSpace);
  }

  private static boolean isSpace(int c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == NEXT_LINE;
  }

  static UserException refuse(String kind, String name, String remedy) {
    String problem = name == null || name.isEmpty() ? "is empty" : "holds white space";
    return new UserException(
        "the " + kind + " '" + (name == null ? "" : name) + "' " + problem
            + ", and a run with it could not be read: " + remedy);
  }
}
