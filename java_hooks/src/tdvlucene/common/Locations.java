package tdvlucene.common;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.apache.lucene.util.BytesRef;

/** Says where in an index something is. */
public final class Locations {
  private Locations() {}

  /** A term as text where it is UTF-8, else as hexadecimal bytes. */
  public static String show(BytesRef term) {
    ByteBuffer bytes = ByteBuffer.wrap(term.bytes, term.offset, term.length);
    try {
      return "'" + StandardCharsets.UTF_8.newDecoder().decode(bytes) + "'";
    } catch (CharacterCodingException e) {
      return term.toString();
    }
  }

  /** An error that says where it happened; {@code term} may be null. */
  public static IOException located(Throwable thrown, String segment, String field, BytesRef term) {
    String nearby = term == null ? "before its first term" : "near the term " + show(term);
    return new IOException(
        "segment " + segment + ", field '" + field + "', " + nearby + ": " + thrown, thrown);
  }
}
