package tdvlucene.common;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.List;

/**
 * JSON, in which small arguments and results cross the bridge, whatever characters they hold.
 *
 * <p>Writes maps, collections, strings, numbers and booleans, in ASCII: surrogates cross unharmed.
 */
public final class Json {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS)
          .build();

  private Json() {}

  public static String of(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** The strings of a JSON array. */
  public static List<String> parseStrings(String json) {
    return parse(json, new TypeReference<List<String>>() {});
  }

  /** The rows of a JSON array of arrays of strings. */
  public static List<List<String>> parseRows(String json) {
    return parse(json, new TypeReference<List<List<String>>>() {});
  }

  private static <T> T parse(String json, TypeReference<T> type) {
    try {
      return MAPPER.readValue(json, type);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
