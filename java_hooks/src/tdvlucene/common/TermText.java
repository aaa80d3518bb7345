package tdvlucene.common;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.apache.lucene.util.BytesRef;

/** Shows terms in messages. */
public final class TermText {
  private TermText() {}

  /** A term as text in quotation marks where it is UTF-8, else as hexadecimal bytes. */
  public static String show(BytesRef term) {
    ByteBuffer bytes = ByteBuffer.wrap(term.bytes, term.offset, term.length);
    try {
      return "'" + StandardCharsets.UTF_8.newDecoder().decode(bytes) + "'";
    } catch (CharacterCodingException e) {
      return term.toString();
    }
  }
}
