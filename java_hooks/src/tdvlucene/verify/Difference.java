package tdvlucene.verify;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Ends a comparison: something in the pruned index is not as it should be. */
final class Difference extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final List<String> PLACES = List.of("segment", "field", "term", "document");

  private final transient Map<String, String> content = new LinkedHashMap<>();
  private final transient Map<String, String> places = new TreeMap<>();

  /** @param what the kind of thing that differs, such as "frequency" */
  Difference(String what, Object expected, Object found) {
    super(what, null, false, false);
    content.put("what", what);
    content.put("expected", String.valueOf(expected));
    content.put("found", String.valueOf(found));
  }

  /** Says what differs, how, and where. */
  Map<String, String> content() {
    Map<String, String> all = new LinkedHashMap<>(content);
    PLACES.stream().filter(places::containsKey).forEach(name -> all.put(name, places.get(name)));
    return all;
  }

  /** Adds where it is: one of {@link #PLACES}. */
  Difference at(String place, String name) {
    places.put(place, name);
    return this;
  }

  /** Throws unless the two are equal. */
  static void require(String what, Object expected, Object found) {
    if (!String.valueOf(expected).equals(String.valueOf(found))) {
      throw new Difference(what, expected, found);
    }
  }

  interface Comparison {
    void run() throws IOException;
  }

  /** Compares something at a place, which a difference is then said to be at. */
  static void in(String place, String name, Comparison comparison) throws IOException {
    try {
      comparison.run();
    } catch (Difference e) {
      throw e.at(place, name);
    }
  }
}
