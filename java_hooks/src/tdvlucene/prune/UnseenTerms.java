package tdvlucene.prune;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.NpyWriter;
import tdvlucene.rules.TermTable;

/**
 * Compares a field's dictionary with a table made of an earlier state of it: in how many documents
 * the table's terms are now, and which terms it lacks.
 *
 * <p>Counts of terms are Lucene's own, which include deleted documents. Learning did not count
 * those, so where they are more than a hundredth, postings are read and counted without them.
 * Memory: four bytes for each term of the table.
 */
public final class UnseenTerms extends Job {
  private static final double MOST_DELETED = 0.01;

  private final Index source;
  private final String field;
  private final TermTable table;
  private final Path folder;

  private boolean leavesOutDeleted;
  private long counted;

  /** @param folder gets the arrays; existing, empty */
  public UnseenTerms(Index source, String field, TermTable table, String folder) {
    this.source = source;
    this.field = field;
    this.table = table;
    this.folder = Paths.get(folder);
  }

  /** JSON: documents of the index and of the field, the field's tokens and postings. */
  @Override
  protected Object run() throws IOException {
    try (IndexReader reader = open(source)) {
      leavesOutDeleted = reader.numDeletedDocs() > MOST_DELETED * reader.maxDoc();
      DocumentNumbers live = leavesOutDeleted ? new DocumentNumbers(reader) : null;
      write(new FieldPostings(reader, field, live));
      Map<String, Object> found = new TreeMap<>();
      found.put("documents", reader.numDocs());
      found.put("doc_count", reader.getDocCount(field));
      found.put("tokens", reader.getSumTotalTermFreq(field));
      found.put("postings", counted);
      return found;
    }
  }

  private int count(FieldPostings term) throws IOException {
    int count = leavesOutDeleted ? 0 : term.docFreq();
    if (leavesOutDeleted) {
      for (term.readPostings(PostingsEnum.NONE); term.next() != FieldPostings.END; ) {
        count++;
      }
    }
    counted += count;
    return count;
  }

  private void write(FieldPostings each) throws IOException {
    int[] docFreq = new int[table.size()];
    try (NpyWriter counts = new NpyWriter(folder, "doc_freq", "<i4");
        NpyWriter terms = new NpyWriter(folder, "terms", "|u1");
        NpyWriter ends = new NpyWriter(folder, "terms_indptr", "<i8");
        NpyWriter places = new NpyWriter(folder, "places", "<i4");
        NpyWriter unseenCounts = new NpyWriter(folder, "unseen_doc_freq", "<i4")) {
      ends.writeLong(0);
      TermTable.Cursor cursor = table.cursor();
      for (BytesRef term = each.nextTerm(); term != null; term = each.nextTerm()) {
        checkCancelled();
        if (cursor.advance(term)) {
          docFreq[cursor.number()] = count(each);
        } else {
          terms.writeBytes(term.bytes, term.offset, term.length);
          ends.writeLong(terms.bytes());
          places.writeInt(cursor.number()); // before that term of the table it belongs
          unseenCounts.writeInt(count(each));
        }
      }
      counts.writeInts(docFreq, docFreq.length);
    }
  }
}
