package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.search.IndexSearcher;
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
   * Tokens of each text as a JSON array of arrays of strings.
   *
   * @param texts a JSON array
   */
  public static String tokens(Analyzer analyzer, String field, String texts) throws IOException {
    List<List<String>> all = new ArrayList<>();
    for (String text : Json.parseStrings(texts)) {
      List<String> found = new ArrayList<>();
      try (Tokens tokens = new Tokens(analyzer, field, text)) {
        while (tokens.next()) {
          found.add(tokens.text());
        }
      }
      all.add(found);
    }
    return Json.of(all);
  }

  /**
   * Where the tokens of each text that are among some terms stand in it, as a JSON array of arrays
   * of {@code [start, end, term]}; offsets count code points.
   *
   * @param texts a JSON array
   * @param terms a JSON array
   */
  public static String places(Analyzer analyzer, String field, String texts, String terms)
      throws IOException {
    Set<String> wanted = Set.copyOf(Json.parseStrings(terms));
    List<List<Object>> all = new ArrayList<>();
    for (String text : Json.parseStrings(texts)) {
      List<Object> places = new ArrayList<>();
      try (Tokens tokens = new Tokens(analyzer, field, text)) {
        while (tokens.next()) {
          if (wanted.contains(tokens.text())) {
            int start = text.codePointCount(0, tokens.start());
            int end = start + text.codePointCount(tokens.start(), tokens.end());
            places.add(List.of(start, end, tokens.text()));
          }
        }
      }
      all.add(places);
    }
    return Json.of(all);
  }

  /** The most different terms that Lucene takes in a query. */
  public static int mostTerms() {
    return IndexSearcher.getMaxClauseCount();
  }

  /**
   * A JSON array of {@code [terms, text]}: how many different terms each text has, and as much of
   * its beginning as Lucene takes.
   *
   * @param texts a JSON array
   */
  public static String shorten(Analyzer analyzer, String field, String texts) throws IOException {
    List<List<Object>> all = new ArrayList<>();
    for (String text : Json.parseStrings(texts)) {
      Set<String> terms = new HashSet<>();
      int end = text.length();
      int last = 0;
      try (Tokens tokens = new Tokens(analyzer, field, text)) {
        while (tokens.next()) {
          if (terms.add(tokens.text()) && terms.size() == mostTerms() + 1) {
            end = last;
          }
          last = tokens.end();
        }
      }
      all.add(List.of(terms.size(), text.substring(0, end)));
    }
    return Json.of(all);
  }
}
