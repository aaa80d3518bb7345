package tdvlucene.search;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;
import tdvlucene.common.NpyWriter;

/** Looks up document frequencies and total frequencies in the term dictionary alone. */
public final class TermCounts {
  private TermCounts() {}

  /**
   * A JSON array of {@code [docFreq, totalTermFreq]} for each term, zeros where it is absent.
   *
   * @param terms a JSON array
   */
  public static String of(String index, String field, String terms) throws IOException {
    return Indexes.read(index, reader -> of(reader, field, terms));
  }

  static String of(IndexReader reader, String field, String terms) throws IOException {
    List<List<Long>> counts = new ArrayList<>();
    for (String text : Json.parseStrings(terms)) {
      Term term = new Term(field, text);
      counts.add(List.of((long) reader.docFreq(term), reader.totalTermFreq(term)));
    }
    return Json.of(counts);
  }

  /**
   * Writes all terms, in Lucene's order, and their frequencies into a folder: the bytes of the
   * terms one after another, where each ends, and {@code docFreq, totalTermFreq} of each.
   */
  public static void write(String index, String field, String folder) throws IOException {
    Path to = Paths.get(folder);
    Indexes.read(index, reader -> {
      try (NpyWriter text = new NpyWriter(to.resolve("terms.npy"), "|u1");
          NpyWriter ends = new NpyWriter(to.resolve("ends.npy"), "<i8");
          NpyWriter counts = new NpyWriter(to.resolve("counts.npy"), "<i8")) {
        Terms terms = MultiTerms.getTerms(reader, field);
        TermsEnum each = terms == null ? TermsEnum.EMPTY : terms.iterator();
        for (BytesRef term = each.next(); term != null; term = each.next()) {
          text.writeBytes(term.bytes, term.offset, term.length);
          ends.writeLong(text.bytes());
          counts.writeLong(each.docFreq());
          counts.writeLong(each.totalTermFreq());
        }
      }
      return null;
    });
  }
}
