package tdvlucene.common;

import java.nio.charset.StandardCharsets;
import org.apache.lucene.util.BytesRef;

/** Tells text from other bytes, and shows terms in messages. */
public final class TermText {
  private TermText() {}

  /** A term as text in quotation marks where it is UTF-8, else as hexadecimal bytes. */
  public static String show(BytesRef term) {
    return isText(term) ? "'" + term.utf8ToString() + "'" : term.toString();
  }

  /** Whether bytes are UTF-8. */
  public static boolean isText(BytesRef bytes) {
    String text = new String(bytes.bytes, bytes.offset, bytes.length, StandardCharsets.UTF_8);
    return new BytesRef(text.getBytes(StandardCharsets.UTF_8)).bytesEquals(bytes);
  }
}
