package tdvlucene.extract;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.util.BytesRefBuilder;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.NpyWriter;

/** The files that hold a matrix's terms and postings; chunks are written in the order of terms. */
final class MatrixFiles implements Closeable {
  private final NpyWriter text;
  private final NpyWriter textEnds;
  private final NpyWriter indptr;
  private final NpyWriter indices;
  private final NpyWriter data;
  private final NpyWriter docFreqs;

  /** Null unless asked for. */
  private final NpyWriter firsts;

  private final NpyWriter totalTermFreqs;

  /** Tokens of each row. */
  final int[] lengths;

  /** The term met last: more of it may follow. */
  private final BytesRefBuilder term = new BytesRefBuilder();

  private long totalTermFreq;

  /** Postings up to the end of the current term, and before it. */
  long postings;

  private long before;

  MatrixFiles(Path folder, int rows, boolean positions) throws IOException {
    text = new NpyWriter(folder.resolve("terms.npy"), "|u1");
    textEnds = new NpyWriter(folder.resolve("terms_indptr.npy"), "<i8");
    indptr = new NpyWriter(folder.resolve("indptr.npy"), "<i8");
    indices = new NpyWriter(folder.resolve("indices.npy"), "<i4");
    data = new NpyWriter(folder.resolve("data.npy"), "<i4");
    docFreqs = new NpyWriter(folder.resolve("doc_freq.npy"), "<i8");
    totalTermFreqs = new NpyWriter(folder.resolve("total_term_freq.npy"), "<i8");
    firsts = positions ? new NpyWriter(folder.resolve("first_positions.npy"), "<u2") : null;
    lengths = new int[rows];
    textEnds.writeLong(0);
    indptr.writeLong(0);
  }

  void write(MatrixChunk chunk) throws IOException {
    int next = 0;
    for (int i = 0; i < chunk.terms; i++) {
      if (i > 0 || !chunk.continued) {
        finish();
        int start = i == 0 ? 0 : chunk.textEnds[i - 1];
        term.copyBytes(chunk.text, start, chunk.textEnds[i] - start);
      }
      postings += chunk.ends[i] - next;
      for (; next < chunk.ends[i]; next++) {
        lengths[chunk.rows[next]] += chunk.freqs[next];
        totalTermFreq += chunk.freqs[next];
      }
    }
    indices.writeInts(chunk.rows, chunk.postings);
    data.writeInts(chunk.freqs, chunk.postings);
    if (firsts != null) {
      firsts.writeCapped(chunk.firsts, chunk.postings);
    }
  }

  /**
   * Writes what is known of the current term, the last one after the last chunk; one without a live
   * posting is left out.
   */
  void finish() throws IOException {
    if (postings > before) {
      text.writeBytes(term.bytes(), 0, term.length());
      textEnds.writeLong(text.bytes());
      indptr.writeLong(postings);
      docFreqs.writeLong(postings - before);
      totalTermFreqs.writeLong(totalTermFreq);
    }
    before = postings;
    totalTermFreq = 0;
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(text, textEnds, indptr, indices, data, firsts, docFreqs, totalTermFreqs);
  }
}
