package tdvlucene.common;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Set;
import org.apache.lucene.document.Document;

/**
 * The text that an index stores of a document: its {@code contents}, else {@code raw}; of a raw
 * JSON document (Anserini's JsonCollection) its "contents".
 */
public final class StoredText {
  /** The stored fields that {@link #of} looks at. */
  public static final Set<String> FIELDS = Set.of("contents", "raw");

  private final ObjectMapper json = new ObjectMapper();

  /** The text, null where none is stored. */
  public String of(Document document) {
    String contents = document.get("contents");
    if (contents != null) {
      return contents;
    }
    String raw = document.get("raw");
    if (raw == null || !raw.startsWith("{")) {
      return raw;
    }
    try {
      JsonNode field = json.readTree(raw).get("contents");
      return field == null ? raw : field.asText();
    } catch (JsonProcessingException e) {
      return raw; // text that only begins like JSON
    }
  }
}
