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

/** Cuts queries of more terms than Lucene takes. */
public final class LongQueries {
  private LongQueries() {}

  /** The most different terms of a query. */
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
