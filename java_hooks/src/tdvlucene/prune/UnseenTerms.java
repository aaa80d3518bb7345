package tdvlucene.prune;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Job;
import tdvlucene.common.NpyWriter;
import tdvlucene.rules.TermTable;

/**
 * Compares a field's dictionary with a table made of an earlier state of it: in how many documents
 * the table's terms are now, and which terms it lacks.
 *
 * <p>Reads no postings: counts are Lucene's own, which include deleted documents. Memory: four
 * bytes for each term of the table, and the terms it lacks.
 */
public final class UnseenTerms extends Job {
  private final OpenCommit source;
  private final String field;
  private final TermTable table;
  private final Path folder;
  private final Map<BytesRef, Unseen> unseen = new TreeMap<>();

  /** @param folder gets the arrays; existing, empty */
  public UnseenTerms(OpenCommit source, String field, TermTable table, String folder) {
    this.source = source;
    this.field = field;
    this.table = table;
    this.folder = Paths.get(folder);
  }

  /** JSON: documents of the index and of the field, the field's tokens and postings. */
  @Override
  protected Object run() throws IOException {
    reads(source.index);
    int[] docFreq = new int[table.size()];
    for (LeafReaderContext leaf : source.reader.leaves()) {
      Terms terms = leaf.reader().terms(field);
      if (terms != null) {
        read(terms, docFreq);
      }
    }
    write(docFreq);
    Map<String, Object> found = new TreeMap<>();
    found.put("documents", source.reader.numDocs());
    found.put("doc_count", source.reader.getDocCount(field));
    found.put("tokens", source.reader.getSumTotalTermFreq(field));
    found.put("postings", source.reader.getSumDocFreq(field));
    return found;
  }

  private void read(Terms terms, int[] docFreq) throws IOException {
    TermTable.Cursor cursor = table.cursor();
    TermsEnum each = terms.iterator();
    for (BytesRef term = each.next(); term != null; term = each.next()) {
      if (cursor.advance(term)) {
        docFreq[cursor.number()] += each.docFreq();
      } else {
        Unseen known = unseen.get(term);
        if (known == null) {
          known = new Unseen(cursor.number());
          unseen.put(BytesRef.deepCopyOf(term), known);
        }
        known.docFreq += each.docFreq();
      }
    }
    checkCancelled();
  }

  private void write(int[] docFreq) throws IOException {
    try (NpyWriter counts = new NpyWriter(folder.resolve("doc_freq.npy"), "<i4");
        NpyWriter terms = new NpyWriter(folder.resolve("terms.npy"), "|u1");
        NpyWriter ends = new NpyWriter(folder.resolve("terms_indptr.npy"), "<i8");
        NpyWriter places = new NpyWriter(folder.resolve("places.npy"), "<i4");
        NpyWriter unseenCounts = new NpyWriter(folder.resolve("unseen_doc_freq.npy"), "<i4")) {
      counts.writeInts(docFreq, docFreq.length);
      ends.writeLong(0);
      for (Map.Entry<BytesRef, Unseen> entry : unseen.entrySet()) {
        BytesRef term = entry.getKey();
        terms.writeBytes(term.bytes, term.offset, term.length);
        ends.writeLong(terms.bytes());
        places.writeInt(entry.getValue().place);
        unseenCounts.writeInt(entry.getValue().docFreq);
      }
    }
  }

  /** A term that the table lacks: before which of its terms it belongs. */
  private static final class Unseen {
    private final int place;
    private int docFreq;

    private Unseen(int place) {
      this.place = place;
    }
  }
}
