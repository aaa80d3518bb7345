package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import tdvlucene.common.Json;

/** Runs an analyzer over many texts in one call. */
public final class Analysis {
  private Analysis() {}

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
}
