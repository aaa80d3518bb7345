package tdvlucene.index;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.apache.lucene.util.BytesRef;

/** Says in words where in an index something is. */
final class Places {
  private Places() {}

  /** A term as text where it is UTF-8, else as hexadecimal bytes. */
  static String show(BytesRef term) {
    ByteBuffer bytes = ByteBuffer.wrap(term.bytes, term.offset, term.length);
    try {
      return "'" + StandardCharsets.UTF_8.newDecoder().decode(bytes) + "'";
    } catch (CharacterCodingException e) {
      return term.toString();
    }
  }

  /** An error that says where it happened; {@code term} may be null. */
  static IOException located(Throwable thrown, String segment, String field, BytesRef term) {
    String place = term == null ? "before its first term" : "near the term " + show(term);
    return new IOException(
        "segment " + segment + ", field '" + field + "', " + place + ": " + thrown, thrown);
  }
}
