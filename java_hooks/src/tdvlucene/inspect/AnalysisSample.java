package tdvlucene.inspect;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.SmallFloat;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;
import tdvlucene.common.NormKind;
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
public final class AnalysisSample implements Closeable {
  private static final int MOST_CHARACTERS = 1 << 21; // of all documents together

  private final Index index;
  private final String field;
  private final IndexReader reader;
  private final List<Sampled> documents = new ArrayList<>();
  private final List<String> names = new ArrayList<>();

  /** @param most documents, from all over the index */
  public AnalysisSample(Index index, String field, int most) throws IOException {
    this.index = index;
    this.field = field;
    this.reader = index.open();
    try {
      Indexes.read(index, reader, opened -> sample(opened, most));
    } catch (Throwable t) {
      reader.close();
      throw t;
    }
  }

  /**
   * One document: its text, its terms by each analyzer, and what tells its length.
   *
   * @param norm 0 where it tells nothing
   */
  private record Sampled(
      LeafReaderContext leaf, int doc, String text, byte norm, List<Set<BytesRef>> terms,
      List<Byte> lengths) {}

  private Void sample(IndexReader opened, int most) throws IOException {
    StoredText texts = new StoredText(field);
    boolean tellsLength = NormKind.of(opened, field) == NormKind.DEFAULT;
    int step = Math.max(1, opened.maxDoc() / most);
    int characters = 0;
    for (LeafReaderContext leaf : opened.leaves()) {
      Bits live = leaf.reader().getLiveDocs();
      StoredFields stored = leaf.reader().storedFields();
      NumericDocValues norms = tellsLength ? leaf.reader().getNormValues(field) : null;
      int before = leaf.docBase % step;
      for (int doc = before == 0 ? 0 : step - before; doc < leaf.reader().maxDoc(); doc += step) {
        boolean isLive = live == null || live.get(doc);
        String text = isLive ? texts.of(stored.document(doc, texts.fields())) : null;
        if (text == null || characters > MOST_CHARACTERS) {
          continue;
        }
        characters += text.length();
        boolean hasNorm = norms != null && norms.advanceExact(doc);
        byte norm = hasNorm ? (byte) norms.longValue() : 0;
        documents.add(
            new Sampled(leaf, doc, text, norm, new ArrayList<>(), new ArrayList<>()));
      }
    }
    return null;
  }

  /** A JSON array of the texts. */
  public String texts() {
    return Json.of(documents.stream().map(Sampled::text).toList());
  }

  /** Analyses the texts. */
  public void add(String name, Analyzer analyzer) throws IOException {
    names.add(name);
    for (Sampled document : documents) {
      Set<BytesRef> terms = new HashSet<>();
      int length = 0; // as Lucene's norms count: without tokens at the place of another
      try (Tokens tokens = new Tokens(analyzer, field, document.text)) {
        while (tokens.next()) {
          terms.add(tokens.term());
          length += tokens.step() > 0 ? 1 : 0;
        }
      }
      document.terms.add(terms);
      document.lengths.add(SmallFloat.intToByte4(length));
    }
  }

  /**
   * A JSON object: name to {@code documents} (those with terms by any analyzer), {@code exact} (of
   * these, those with just its terms), {@code own} (terms it makes of all texts), {@code known} (of
   * these, those that the documents have) and {@code found} (terms that the documents have, by all
   * analyzers).
   */
  public String compare() throws IOException {
    return Indexes.read(index, reader, opened -> {
      int[][] counts = new int[names.size()][5];
      for (Sampled document : documents) {
        Set<BytesRef> all = new TreeSet<>();
        document.terms.forEach(all::addAll);
        if (!all.isEmpty()) {
          Set<BytesRef> found = found(document, all);
          for (int i = 0; i < names.size(); i++) {
            count(document, i, found, counts[i]);
          }
        }
      }
      Map<String, Object> told = new LinkedHashMap<>();
      for (int i = 0; i < names.size(); i++) {
        int[] of = counts[i];
        told.put(names.get(i), Map.of(
            "documents", of[0], "exact", of[1], "own", of[2], "known", of[3], "found", of[4]));
      }
      return Json.of(told);
    });
  }

  private Set<BytesRef> found(Sampled document, Set<BytesRef> all) throws IOException {
    Set<BytesRef> found = new HashSet<>();
    Terms terms = document.leaf.reader().terms(field);
    if (terms != null) {
      TermsEnum each = terms.iterator();
      PostingsEnum postings = null;
      for (BytesRef term : all) {
        if (each.seekExact(term)) {
          postings = each.postings(postings, PostingsEnum.NONE);
          if (postings.advance(document.doc) == document.doc) {
            found.add(term);
          }
        }
      }
    }
    return found;
  }

  private static void count(Sampled document, int analyzer, Set<BytesRef> found, int[] counts) {
    Set<BytesRef> own = document.terms.get(analyzer);
    int known = 0;
    for (BytesRef term : own) {
      known += found.contains(term) ? 1 : 0;
    }
    boolean isLong = document.norm == 0 || document.norm == document.lengths.get(analyzer);
    counts[0]++;
    counts[1] += known == found.size() && known == own.size() && isLong ? 1 : 0;
    counts[2] += own.size();
    counts[3] += known;
    counts[4] += found.size();
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
