package tdvlucene.verify;

import java.util.LinkedHashMap;
import java.util.Map;

/** Ends a comparison: something in the pruned index is not as it should be. */
final class Difference extends RuntimeException {
  private static final long serialVersionUID = 1L;

  final transient Map<String, Object> content = new LinkedHashMap<>();

  /** @param what the kind of thing that differs, such as "frequency" */
  Difference(String what, Object expected, Object found) {
    super(what, null, false, false);
    content.put("what", what);
    content.put("expected", String.valueOf(expected));
    content.put("found", String.valueOf(found));
  }

  /** Adds where it is: any of segment, field, term, document. */
  Difference at(String name, String where) {
    content.put(name, where);
    return this;
  }

  /** Throws unless the two are equal. */
  static void require(String what, Object expected, Object found) {
    if (!String.valueOf(expected).equals(String.valueOf(found))) {
      throw new Difference(what, expected, found);
    }
  }
}
