package tdvlucene.index;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.Set;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Job;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.UserException;

/**
 * Writes a field's term-document matrix as NumPy arrays, in one pass over its postings.
 *
 * <p>Live documents only, numbered densely in index order. Terms in unsigned byte order, those
 * without a live posting left out. Needs neither term vectors nor stored text. Memory: eight bytes
 * a document and fixed buffers.
 */
public final class ExtractJob extends Job {
  private static final String ID = "id";
  private static final int CHECK_EVERY = 1 << 16;

  private final String index;
  private final String field;
  private final Path output;

  /** Live document number of each document, or null when nothing is deleted. */
  private int[] liveNumber;

  private int[] docLen;

  public ExtractJob(String index, String field, String output) {
    this.index = index;
    this.field = field;
    this.output = Paths.get(output);
  }

  @Override
  protected void run() throws IOException {
    try (DirectoryReader reader = Indexes.openUnlocked(index)) {
      Indexes.requireFrequencies(reader, index, field);
      numberLiveDocuments(reader);
      docLen = new int[reader.numDocs()];
      writePostings(reader);
      writeDocuments(reader);
    }
  }

  private void numberLiveDocuments(DirectoryReader reader) {
    if (!reader.hasDeletions()) {
      return;
    }
    liveNumber = new int[reader.maxDoc()];
    int next = 0;
    for (LeafReaderContext leaf : reader.leaves()) {
      Bits live = leaf.reader().getLiveDocs();
      for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
        liveNumber[leaf.docBase + doc] = live == null || live.get(doc) ? next++ : -1;
      }
    }
  }

  private NpyWriter array(String name, String dtype) throws IOException {
    return new NpyWriter(output.resolve(name + ".npy"), dtype);
  }

  private void writePostings(DirectoryReader reader) throws IOException {
    try (NpyWriter bytes = array("terms", "|u1");
        NpyWriter ends = array("terms_indptr", "<i8");
        NpyWriter indptr = array("indptr", "<i8");
        NpyWriter indices = array("indices", "<i4");
        NpyWriter data = array("data", "<i4");
        NpyWriter docFreqs = array("doc_freq", "<i8");
        NpyWriter totalTermFreqs = array("total_term_freq", "<i8")) {
      ends.writeLong(0);
      indptr.writeLong(0);
      Terms terms = MultiTerms.getTerms(reader, field);
      if (terms == null) {
        return;
      }
      phase("extracting postings", Math.max(0, terms.getSumDocFreq()));
      TermsEnum each = terms.iterator();
      PostingsEnum postings = null;
      long before = 0;
      long nextCheck = CHECK_EVERY;
      for (BytesRef term = each.next(); term != null; term = each.next()) {
        postings = each.postings(postings, PostingsEnum.FREQS);
        long totalTermFreq = writePostings(postings, indices, data);
        long after = indices.bytes() / Integer.BYTES;
        if (after > before) {
          bytes.writeBytes(term.bytes, term.offset, term.length);
          ends.writeLong(bytes.bytes());
          indptr.writeLong(after);
          docFreqs.writeLong(after - before);
          totalTermFreqs.writeLong(totalTermFreq);
          before = after;
        }
        if (after >= nextCheck) {
          progress(after);
          nextCheck = after + CHECK_EVERY;
        }
      }
    }
  }

  /** One term's live postings; returns the sum of their frequencies. */
  private long writePostings(PostingsEnum postings, NpyWriter indices, NpyWriter data)
      throws IOException {
    long totalTermFreq = 0;
    for (int doc = postings.nextDoc();
        doc != DocIdSetIterator.NO_MORE_DOCS;
        doc = postings.nextDoc()) {
      int number = liveNumber == null ? doc : liveNumber[doc];
      if (number >= 0) {
        int freq = postings.freq();
        indices.writeInt(number);
        data.writeInt(freq);
        docLen[number] += freq;
        totalTermFreq += freq;
      }
    }
    return totalTermFreq;
  }

  private void writeDocuments(DirectoryReader reader) throws IOException {
    phase("extracting documents", reader.maxDoc());
    try (NpyWriter lengths = array("doc_len", "<i8");
        NpyWriter norms = array("norms", "<i8");
        NpyWriter ids = array("doc_ids", "|u1");
        NpyWriter idEnds = array("doc_ids_indptr", "<i8")) {
      for (int length : docLen) {
        lengths.writeLong(length);
      }
      idEnds.writeLong(0);
      for (LeafReaderContext leaf : reader.leaves()) {
        writeDocuments(leaf, norms, ids, idEnds);
      }
    }
  }

  private void writeDocuments(
      LeafReaderContext context, NpyWriter norms, NpyWriter ids, NpyWriter idEnds)
      throws IOException {
    LeafReader leaf = context.reader();
    Bits live = leaf.getLiveDocs();
    NumericDocValues norm = leaf.getNormValues(field);
    BinaryDocValues id = leaf.getBinaryDocValues(ID);
    StoredFields stored = leaf.storedFields();
    for (int doc = 0; doc < leaf.maxDoc(); doc++) {
      if (live == null || live.get(doc)) {
        norms.writeLong(norm != null && norm.advanceExact(doc) ? norm.longValue() : 0);
        boolean inDocValues = id != null && id.advanceExact(doc);
        BytesRef external = inDocValues ? id.binaryValue() : storedId(stored, doc);
        ids.writeBytes(external.bytes, external.offset, external.length);
        idEnds.writeLong(ids.bytes());
      }
      if (doc % CHECK_EVERY == 0) {
        progress(context.docBase + doc);
      }
    }
  }

  /** Old Anserini indexes have no doc values for the id, only the stored field. */
  private BytesRef storedId(StoredFields stored, int doc) throws IOException {
    Set<String> only = Collections.singleton(ID);
    Document document = stored.document(doc, only);
    IndexableField id = document.getField(ID);
    if (id == null || id.stringValue() == null) {
      throw new UserException(
          "document " + doc + " of " + index + " has no '" + ID
              + "': Anserini indexes carry each document's id there");
    }
    return new BytesRef(id.stringValue());
  }
}
