package tdvlucene.common;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
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
    int ascii = 0;
    while (ascii < bytes.length && bytes.bytes[bytes.offset + ascii] >= 0) {
      ascii++;
    }
    if (ascii == bytes.length) {
      return true;
    }
    int from = bytes.offset + ascii;
    try {
      StandardCharsets.UTF_8.newDecoder()
          .decode(ByteBuffer.wrap(bytes.bytes, from, bytes.length - ascii));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
