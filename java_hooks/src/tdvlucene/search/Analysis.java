package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import tdvlucene.common.Json;
import tdvlucene.common.Tokens;
import tdvlucene.common.UserException;

/** Runs an analyzer over many texts in one call. */
public final class Analysis {
  private Analysis() {}

  /** An analyzer by the name of its class; what its constructor throws passes. */
  public static Analyzer byName(String name) throws ReflectiveOperationException {
    try {
      return Class.forName(name).asSubclass(Analyzer.class).getConstructor().newInstance();
    } catch (ClassNotFoundException | NoSuchMethodException | ClassCastException
        | InstantiationException e) {
      throw new UserException(e.toString(), e);
    }
  }

  /**
   * Tokens of each text as a JSON array of arrays: of strings, or with {@code places} of {@code
   * [term, start, end]}, which count the text's UTF-16 units.
   *
   * @param texts a JSON array
   */
  public static String tokens(Analyzer analyzer, String field, String texts, boolean places)
      throws IOException {
    List<List<Object>> all = new ArrayList<>();
    for (String text : Json.parseStrings(texts)) {
      List<Object> found = new ArrayList<>();
      try (Tokens tokens = new Tokens(analyzer, field, text)) {
        while (tokens.next()) {
          String term = tokens.text.toString();
          OffsetAttribute place = tokens.place;
          found.add(places ? List.of(term, place.startOffset(), place.endOffset()) : term);
        }
      }
      all.add(found);
    }
    return Json.of(all);
  }
}
