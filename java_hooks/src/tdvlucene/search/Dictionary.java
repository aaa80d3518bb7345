package tdvlucene.search;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Index;
import tdvlucene.common.Json;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.Tokens;

/** Looks up terms in the dictionary of a field. */
public final class Dictionary {
  private Dictionary() {}

  /**
   * A JSON array of {@code [docFreq, totalTermFreq]} for each term, zeros where it is absent.
   *
   * @param terms a JSON array
   */
  public static String of(Index index, String field, String terms) throws IOException {
    return index.read(reader -> {
      List<List<Long>> counts = new ArrayList<>();
      for (String text : Json.parseStrings(terms)) {
        Term term = new Term(field, text);
        counts.add(List.of((long) reader.docFreq(term), reader.totalTermFreq(term)));
      }
      return Json.of(counts);
    });
  }

  /**
   * Writes all terms of two indexes, in Lucene's order, and their frequencies into a folder: the
   * bytes of the terms one after another, where each ends, and {@code docFreq, totalTermFreq} of
   * each in the first and in the second, zeros where it is absent.
   */
  public static void writePairs(Index first, Index second, String field, String folder)
      throws IOException {
    Path to = Paths.get(folder);
    first.read(a -> second.read(b -> {
      try (NpyWriter text = new NpyWriter(to.resolve("terms.npy"), "|u1");
          NpyWriter ends = new NpyWriter(to.resolve("ends.npy"), "<i8");
          NpyWriter counts = new NpyWriter(to.resolve("counts.npy"), "<i8")) {
        TermsEnum before = terms(a, field);
        TermsEnum after = terms(b, field);
        BytesRef left = before.next();
        BytesRef right = after.next();
        while (left != null || right != null) {
          int order = left == null ? 1 : right == null ? -1 : left.compareTo(right);
          BytesRef term = order <= 0 ? left : right;
          text.writeBytes(term.bytes, term.offset, term.length);
          ends.writeLong(text.bytes());
          counts.writeLong(order <= 0 ? before.docFreq() : 0);
          counts.writeLong(order <= 0 ? before.totalTermFreq() : 0);
          counts.writeLong(order >= 0 ? after.docFreq() : 0);
          counts.writeLong(order >= 0 ? after.totalTermFreq() : 0);
          left = order <= 0 ? before.next() : left;
          right = order >= 0 ? after.next() : right;
        }
      }
      return null;
    }));
  }

  private static TermsEnum terms(IndexReader reader, String field) throws IOException {
    Terms terms = MultiTerms.getTerms(reader, field);
    return terms == null ? TermsEnum.EMPTY : terms.iterator();
  }

  /**
   * Looks up which different terms of texts, by one analyzer or another, are in a field's dictionary:
   * an index does not say which analyzer made it. Reads no postings.
   *
   * <p>A JSON object of the terms that are {@code known} and {@code unknown}, in order.
   *
   * @param texts a JSON array
   */
  public static String known(Index index, String field, Analyzer analyzer, String texts)
      throws IOException {
    return index.read(reader -> {
      Map<String, List<String>> found =
          new TreeMap<>(Map.of("known", new ArrayList<>(), "unknown", new ArrayList<>()));
      TreeSet<BytesRef> terms = new TreeSet<>();
      for (String text : Json.parseStrings(texts)) {
        try (Tokens tokens = new Tokens(analyzer, field, text)) {
          while (tokens.next()) {
            terms.add(tokens.term());
          }
        }
      }
      for (BytesRef term : terms) {
        boolean isKnown = reader.docFreq(new Term(field, term)) > 0;
        found.get(isKnown ? "known" : "unknown").add(term.utf8ToString());
      }
      return Json.of(found);
    });
  }

  /** A JSON array of the fields that can be searched. */
  public static String fields(Index index) throws IOException {
    return index.read(reader -> Json.of(Index.withFrequencies(reader)));
  }
}
