package tdvlucene.common;

import java.io.IOException;
import org.apache.lucene.index.CorruptIndexException;

/** Tells the user's errors from ours. */
final class Failures {
  /** The operating system's words for ENOSPC, EDQUOT and EFBIG: Java has no class for them. */
  private static final String[] DISK_FULL = {
    "No space left on device", "Disk quota exceeded", "File too large"
  };

  private Failures() {}

  /** What to tell the user, or null for a defect; looks through what Lucene wrapped. */
  static String userMessage(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof UserException) {
        return t.getMessage();
      }
      if (t instanceof CorruptIndexException) {
        return "the index is damaged: " + thrown.getMessage()
            + " (restore it from a copy, or index the collection again)";
      }
      if (t instanceof IOException && isDiskFull(t.getMessage())) {
        return "cannot write: " + t.getMessage() + "; nothing was left there";
      }
    }
    return null;
  }

  private static boolean isDiskFull(String message) {
    for (String reason : DISK_FULL) {
      if (message != null && message.contains(reason)) {
        return true;
      }
    }
    return false;
  }
}
