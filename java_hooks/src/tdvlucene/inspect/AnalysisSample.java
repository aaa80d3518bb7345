package tdvlucene.inspect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.SmallFloat;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.Index;
import tdvlucene.common.Json;
import tdvlucene.common.NormKind;
import tdvlucene.common.Overlaps;
import tdvlucene.common.StoredText;
import tdvlucene.common.Tokens;

/**
 * Holds what analyzers make of the stored text of some documents against the terms that the index
 * has for these documents.
 *
 * <p>A document's terms cannot be listed without reading all postings. So all terms that any of the
 * analyzers makes of its text are looked up; what none of them makes shows in the document's
 * length, which norms keep, to 4 significant bits.
 */
public final class AnalysisSample {
  private static final int MOST_CHARACTERS = 1 << 21; // of all documents together

  private AnalysisSample() {}

  /**
   * @param norm that of the document; 0 where it tells nothing
   * @param terms how many different ones the document has; -1 where norms tell enough
   */
  private record Sampled(LeafReader leaf, int doc, String text, byte norm, int terms) {}

  /**
   * A JSON array of the stored texts of a field.
   *
   * @param most documents, from all over the index
   */
  public static String texts(Index index, String field, int most) throws IOException {
    return index.read(reader ->
        Json.of(sample(reader, field, most).stream().map(Sampled::text).toList()));
  }

  private static List<Sampled> sample(IndexReader reader, String field, int most)
      throws IOException {
    List<Sampled> documents = new ArrayList<>();
    StoredText texts = new StoredText(field);
    NormKind kind = NormKind.of(reader, field);
    boolean overlaps = kind == NormKind.OVERLAPS; // of which norms tell nothing
    boolean tellsLength = kind == NormKind.DEFAULT || overlaps;
    int step = Math.max(1, reader.maxDoc() / most);
    int characters = 0;
    for (LeafReaderContext leaf : reader.leaves()) {
      Bits live = leaf.reader().getLiveDocs();
      StoredFields stored = leaf.reader().storedFields();
      NumericDocValues norms = tellsLength ? leaf.reader().getNormValues(field) : null;
      int before = leaf.docBase % step;
      for (int doc = before == 0 ? 0 : step - before; doc < leaf.reader().maxDoc(); doc += step) {
        boolean isLive = live == null || live.get(doc);
        String text = isLive ? texts.of(stored.document(doc, texts.fields())) : null;
        if (text != null && characters <= MOST_CHARACTERS) {
          characters += text.length();
          boolean hasNorm = norms != null && norms.advanceExact(doc);
          byte norm = hasNorm ? (byte) norms.longValue() : 0;
          int terms =
              overlaps ? Overlaps.count(leaf.reader(), field, new int[] {doc}).get(0).terms() : -1;
          documents.add(new Sampled(leaf.reader(), doc, text, norm, terms));
        }
      }
    }
    return documents;
  }

  /**
   * A JSON array with an object for each analyzer: {@code documents} (those with terms by any of
   * them), {@code exact} (of these, those with just its terms), {@code own} (terms it makes of all
   * texts), {@code known} (of these, those that the documents have) and {@code found} (terms that the
   * documents have, by all analyzers).
   */
  public static String compare(Index index, String field, int most, List<Analyzer> analyzers)
      throws IOException {
    return index.read(reader -> {
      int[][] counts = new int[analyzers.size()][5];
      for (Sampled document : sample(reader, field, most)) {
        compare(document, field, analyzers, counts);
      }
      return Json.of(Arrays.stream(counts)
          .map(of -> Map.of(
              "documents", of[0], "exact", of[1], "own", of[2], "known", of[3], "found", of[4]))
          .toList());
    });
  }

  private static void compare(
      Sampled document, String field, List<Analyzer> analyzers, int[][] counts)
      throws IOException {
    List<Set<BytesRef>> made = new ArrayList<>();
    Set<BytesRef> all = new TreeSet<>();
    boolean[] isLong = new boolean[analyzers.size()];
    for (int i = 0; i < isLong.length; i++) {
      Set<BytesRef> terms = new HashSet<>();
      int length = 0; // as Lucene's norms count: without tokens at the place of another
      try (Tokens tokens = new Tokens(analyzers.get(i), field, document.text)) {
        while (tokens.next()) {
          terms.add(tokens.term());
          length += tokens.step.getPositionIncrement() > 0 ? 1 : 0;
        }
      }
      isLong[i] = document.norm == 0 || document.norm == SmallFloat.intToByte4(length);
      made.add(terms);
      all.addAll(terms);
    }
    if (all.isEmpty()) {
      return;
    }
    Set<BytesRef> found = found(document, field, all);
    for (int i = 0; i < isLong.length; i++) {
      Set<BytesRef> own = made.get(i);
      int known = (int) own.stream().filter(found::contains).count();
      counts[i][0]++;
      boolean isAll = document.terms < 0 || document.terms == known;
      counts[i][1] += known == found.size() && known == own.size() && isLong[i] && isAll ? 1 : 0;
      counts[i][2] += own.size();
      counts[i][3] += known;
      counts[i][4] += found.size();
    }
  }

  private static Set<BytesRef> found(Sampled document, String field, Set<BytesRef> all)
      throws IOException {
    Set<BytesRef> found = new HashSet<>();
    FieldPostings postings = new FieldPostings(document.leaf, field);
    for (BytesRef term : all) {
      if (term.equals(postings.nextTerm(term))) {
        postings.readPostings(PostingsEnum.NONE);
        if (postings.advance(document.doc) == document.doc) {
          found.add(term);
        }
      }
    }
    return found;
  }
}
