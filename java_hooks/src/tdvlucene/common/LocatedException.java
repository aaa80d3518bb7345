package tdvlucene.common;

import java.io.IOException;
import org.apache.lucene.util.BytesRef;

/** A failure while postings were read, with its place in the index. */
public final class LocatedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String place;

  /** @param term the last term read; null before the first */
  public LocatedException(Throwable thrown, String segment, String field, BytesRef term) {
    this(thrown, "segment " + segment + ", field '" + field + "', " + near(term));
  }

  private LocatedException(Throwable thrown, String place) {
    super(place + ": " + thrown, thrown);
    this.place = place;
  }

  private static String near(BytesRef term) {
    return term == null ? "before its first term" : "near the term " + TermText.show(term);
  }

  /** The place in what was thrown, or in what caused it; empty when none is known. */
  static String placeOf(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof LocatedException) {
        return ((LocatedException) t).place;
      }
    }
    return "";
  }
}
