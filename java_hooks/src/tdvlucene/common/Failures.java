package tdvlucene.common;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.function.LongConsumer;
import org.apache.lucene.index.CorruptIndexException;

/** Tells the user's errors and damaged indexes from our own defects. */
final class Failures {
  /** The operating system's words for ENOSPC, EDQUOT and EFBIG: Java has no class for them. */
  private static final List<String> DISK_FULL =
      List.of("No space left on device", "Disk quota exceeded", "File too large");

  private Failures() {}

  /**
   * What to tell of a failure: an error of the user's as it is; else the damage behind it, where
   * there is any; else what was thrown.
   *
   * @param indexes those that were read
   * @param progress told bytes read in search of damage; may throw to stop
   */
  static Throwable explain(Throwable thrown, Collection<Index> indexes, LongConsumer progress) {
    if (isSure(thrown)) {
      return thrown;
    }
    for (Index index : indexes) {
      for (String shard : index.folders()) {
        UserException damage = Damage.behind(thrown, shard, false, progress);
        if (damage != null) {
          return damage;
        }
      }
    }
    return thrown;
  }

  /** Whether it is an error of the user's, or of the disk, that damage cannot cause. */
  private static boolean isSure(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof UserException known && !known.doubtful || isDiskFull(t)) {
        return true;
      }
    }
    return false;
  }

  /** What to tell the user, or null for a defect. */
  static String userMessage(Throwable thrown) {
    Throwable known = known(thrown);
    if (known instanceof CorruptIndexException) { // with a checksum that holds, or it were known
      return "the index is damaged: " + thrown.getMessage()
          + ". Restore it from a copy, or make it again";
    }
    return known == null ? null : known.getMessage();
  }

  /** Whether {@link #userMessage} tells of a full disk, in the operating system's words. */
  static boolean isOfDisk(Throwable thrown) {
    Throwable known = known(thrown);
    return known != null
        && !(known instanceof UserException || known instanceof CorruptIndexException);
  }

  /** The first of what was thrown, and of what Lucene wrapped in it, that is no defect. */
  private static Throwable known(Throwable thrown) {
    Throwable t = thrown;
    while (t != null
        && !(t instanceof UserException || t instanceof CorruptIndexException || isDiskFull(t))) {
      t = t.getCause();
    }
    return t;
  }

  private static boolean isDiskFull(Throwable thrown) {
    return thrown instanceof IOException
        && thrown.getMessage() != null
        && DISK_FULL.stream().anyMatch(thrown.getMessage()::contains);
  }
}
