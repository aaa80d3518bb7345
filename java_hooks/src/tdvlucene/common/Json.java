package tdvlucene.common;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * JSON, in which small arguments and results cross the bridge, whatever characters they hold.
 *
 * <p>Writes maps, collections, strings, numbers and booleans.
 */
public final class Json {
  private Json() {}

  public static String of(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
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
      return new ObjectMapper().readValue(json, type);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static void write(Object value, StringBuilder out) {
    if (value instanceof Map) {
      writeMap((Map<?, ?>) value, out);
    } else if (value instanceof Collection) {
      writeCollection((Collection<?>) value, out);
    } else if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else {
      writeString(value.toString(), out);
    }
  }

  private static void writeMap(Map<?, ?> map, StringBuilder out) {
    String separator = "{";
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      out.append(separator);
      writeString(entry.getKey().toString(), out);
      out.append(':');
      write(entry.getValue(), out);
      separator = ",";
    }
    out.append(map.isEmpty() ? "{}" : "}");
  }

  private static void writeCollection(Collection<?> items, StringBuilder out) {
    String separator = "[";
    for (Object item : items) {
      out.append(separator);
      write(item, out);
      separator = ",";
    }
    out.append(items.isEmpty() ? "[]" : "]");
  }

  private static void writeString(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < 0x20 || Character.isSurrogate(c)) {
        out.append(String.format("\\u%04x", (int) c)); // surrogates one by one: a pair stays a pair
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
