package tdvlucene.search;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Json;
import tdvlucene.index.Indexes;

/** Document and total frequencies of terms, from the term dictionary alone. */
public final class TermCounts {
  private TermCounts() {}

  /**
   * A JSON array of {@code [docFreq, totalTermFreq]} for each term, zeros where it is absent.
   *
   * @param terms separated by newlines
   */
  public static String of(String index, String field, String terms) throws IOException {
    try (DirectoryReader reader = Indexes.open(index)) {
      return of(reader, field, terms);
    }
  }

  static String of(IndexReader reader, String field, String terms) throws IOException {
    List<List<Long>> counts = new ArrayList<>();
    for (String text : terms.split("\n")) {
      Term term = new Term(field, text);
      counts.add(List.of((long) reader.docFreq(term), reader.totalTermFreq(term)));
    }
    return Json.of(counts);
  }

  /** Writes a line {@code docFreq<TAB>totalTermFreq<TAB>term} for every term, in Lucene's order. */
  public static void write(String index, String field, String output) throws IOException {
    try (DirectoryReader reader = Indexes.open(index);
        BufferedWriter out = Files.newBufferedWriter(Paths.get(output))) {
      Terms terms = MultiTerms.getTerms(reader, field);
      TermsEnum each = terms == null ? TermsEnum.EMPTY : terms.iterator();
      for (BytesRef term = each.next(); term != null; term = each.next()) {
        out.write(each.docFreq() + "\t" + each.totalTermFreq() + "\t" + term.utf8ToString() + "\n");
      }
    }
  }
}
