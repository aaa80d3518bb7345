package tdvlucene.common;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.IndexFormatTooNewException;
import org.apache.lucene.index.IndexFormatTooOldException;
import org.apache.lucene.index.IndexNotFoundException;
import org.apache.lucene.util.Version;

/** Why an index cannot be opened, in the user's words. */
final class Unreadable {
  /** The oldest Lucene whose indexes a supported Pyserini reads. */
  private static final int OLDEST_READ = 8;

  /** In the reason Lucene gives: it knows what made the index, and tells it in no other way. */
  private static final Pattern MADE_BY = Pattern.compile("Lucene (?:version )?(\\d+)\\.x");

  private Unreadable() {}

  /** What to tell of an index that cannot be opened, and what to do. */
  static UserException explain(String index, Exception e) {
    String lucene = "Lucene " + Version.LATEST;
    boolean tooOld = e instanceof IndexFormatTooOldException;
    boolean tooNew = e instanceof IndexFormatTooNewException || isFromTheFuture(e);
    boolean otherFormat = tooOld || tooNew || e instanceof IllegalArgumentException;
    UserException damage = Damage.behind(e, index, otherFormat, read -> {});
    if (damage != null) {
      return damage;
    }
    if (e instanceof IndexNotFoundException) {
      return new UserException(
          "not a Lucene index: " + index + " holds no commit (no segments_N file)", e);
    }
    if (tooNew) {
      return new UserException(
          index + " was written by a newer Lucene than the installed " + lucene
              + " reads: install the Pyserini that made it (2.x for Lucene 10)", e);
    }
    if (tooOld) {
      return new UserException(tooOld(index, lucene, (IndexFormatTooOldException) e), e);
    }
    if (e instanceof CorruptIndexException) { // with a checksum that holds
      return new UserException(index + " is damaged: " + e.getMessage(), e);
    }
    return new UserException(
        index + " cannot be read by " + lucene + ": " + e.getMessage(), e);
  }

  /** Lucene reads what its own major version made first, and the one before. */
  private static String tooOld(String index, String lucene, IndexFormatTooOldException e) {
    Matcher made = MADE_BY.matcher(String.valueOf(e.getReason()));
    if (!made.find()) {
      return index + " was written by a Lucene too old for the installed " + lucene
          + ": index the collection again";
    }
    int major = Integer.parseInt(made.group(1));
    String other =
        major < OLDEST_READ
            ? ""
            : "install Pyserini 1.6, whose Lucene 9 does, for this index and what is pruned from "
                + "it, or ";
    return index + " was first made by Lucene " + major + ", which the installed " + lucene
        + " does not read: " + other + "index the collection again";
  }

  /** Lucene meets the version that made an index, or its codec, before it checks its format. */
  private static boolean isFromTheFuture(Exception e) {
    String message = String.valueOf(e.getMessage());
    return e instanceof IllegalArgumentException
        && (message.contains("is in the future")
            || message.startsWith("Could not load codec 'Lucene"));
  }
}
