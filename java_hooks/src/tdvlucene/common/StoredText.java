package tdvlucene.common;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Set;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.IndexableField;

/**
 * The text of a field that an index stores of a document: the stored field of that name, else what
 * {@code raw}, a JSON document of Anserini's JsonCollection, has under it. Of {@code contents} also
 * any other {@code raw} document.
 */
public final class StoredText {
  private static final String CONTENTS = "contents";
  private static final String RAW = "raw";

  private final ObjectMapper json = new ObjectMapper();
  private final String field;

  public StoredText(String field) {
    this.field = field;
  }

  /** The value of a stored field as it was stored: a string, a number or bytes. */
  public static Object value(IndexableField field) {
    Object value = field.binaryValue() != null ? field.binaryValue() : field.numericValue();
    return value != null ? value : field.stringValue();
  }

  /** The stored fields that {@link #of} looks at. */
  public Set<String> fields() {
    return field.equals(RAW) ? Set.of(RAW) : Set.of(field, RAW);
  }

  /** The text, null where none is stored. */
  public String of(Document document) {
    String text = document.get(field);
    if (text != null) {
      return text;
    }
    String raw = document.get(RAW);
    String plain = field.equals(CONTENTS) ? raw : null;
    if (raw == null || !raw.startsWith("{")) {
      return plain;
    }
    try {
      JsonNode found = json.readTree(raw).get(field);
      return found == null ? plain : found.asText();
    } catch (JsonProcessingException e) {
      return plain; // text that only begins like JSON
    }
  }
}
