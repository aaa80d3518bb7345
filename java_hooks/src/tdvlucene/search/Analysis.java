package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.search.IndexSearcher;
import tdvlucene.common.Json;
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
      List<String> tokens = new ArrayList<>();
      try (TokenStream stream = analyzer.tokenStream(field, text)) {
        CharTermAttribute token = stream.addAttribute(CharTermAttribute.class);
        stream.reset();
        while (stream.incrementToken()) {
          tokens.add(token.toString());
        }
        stream.end();
      }
      all.add(tokens);
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
      try (TokenStream stream = analyzer.tokenStream(field, text)) {
        CharTermAttribute token = stream.addAttribute(CharTermAttribute.class);
        OffsetAttribute offset = stream.addAttribute(OffsetAttribute.class);
        stream.reset();
        while (stream.incrementToken()) {
          if (wanted.contains(token.toString())) {
            int start = text.codePointCount(0, offset.startOffset());
            int end = start + text.codePointCount(offset.startOffset(), offset.endOffset());
            places.add(List.of(start, end, token.toString()));
          }
        }
        stream.end();
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
      all.add(shortenOne(analyzer, field, text));
    }
    return Json.of(all);
  }

  private static List<Object> shortenOne(Analyzer analyzer, String field, String text)
      throws IOException {
    Set<String> terms = new HashSet<>();
    int end = text.length();
    int last = 0;
    try (TokenStream stream = analyzer.tokenStream(field, text)) {
      CharTermAttribute token = stream.addAttribute(CharTermAttribute.class);
      OffsetAttribute offset = stream.addAttribute(OffsetAttribute.class);
      stream.reset();
      while (stream.incrementToken()) {
        if (terms.add(token.toString()) && terms.size() == mostTerms() + 1) {
          end = last;
        }
        last = offset.endOffset();
      }
      stream.end();
    }
    return List.of(terms.size(), text.substring(0, end));
  }
}
