package tdvlucene.extract;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.FieldPostings;
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

  /** The terms that stand in deleted documents alone, by their number among all: left out. */
  final BitSet gone = new BitSet();

  private int met;

  /** Postings so far. */
  long postings;

  MatrixFiles(Path folder, int rows, boolean positions) throws IOException {
    text = new NpyWriter(folder, "terms", "|u1");
    textEnds = new NpyWriter(folder, "terms_indptr", "<i8");
    indptr = new NpyWriter(folder, "indptr", "<i8");
    indices = new NpyWriter(folder, "indices", "<i4");
    data = new NpyWriter(folder, "data", "<i4");
    docFreqs = new NpyWriter(folder, "doc_freq", "<i8");
    totalTermFreqs = new NpyWriter(folder, "total_term_freq", "<i8");
    firsts = positions ? new NpyWriter(folder, "first_positions", "<u2") : null;
    lengths = new int[rows];
    textEnds.writeLong(0);
    indptr.writeLong(0);
  }

  /** Writes terms and their postings. */
  void write(Chunk chunk) throws IOException {
    int next = 0;
    int start = 0;
    for (int i = 0; i < chunk.terms; i++, met++) {
      int docFreq = chunk.ends[i] - next;
      long totalTermFreq = 0;
      for (; next < chunk.ends[i]; next++) {
        lengths[chunk.rows[next]] += chunk.freqs[next];
        totalTermFreq += chunk.freqs[next];
      }
      if (docFreq == 0) {
        gone.set(met);
      } else {
        postings += docFreq;
        text.writeBytes(chunk.text, start, chunk.textEnds[i] - start);
        textEnds.writeLong(text.bytes());
        indptr.writeLong(postings);
        docFreqs.writeLong(docFreq);
        totalTermFreqs.writeLong(totalTermFreq);
      }
      start = chunk.textEnds[i];
    }
    indices.writeInts(chunk.rows, chunk.postings);
    data.writeInts(chunk.freqs, chunk.postings);
    if (firsts != null) {
      firsts.writeCapped(chunk.firsts, chunk.postings);
    }
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(text, textEnds, indptr, indices, data, firsts, docFreqs, totalTermFreqs);
  }

  /** Some terms and their postings on the way to the files. */
  static final class Chunk {
    /** Terms after one another, and where each ends. */
    private final byte[] text;

    private final int[] textEnds;

    /** Where each term's postings end in {@link #rows} and {@link #freqs}. */
    private final int[] ends;

    private final int[] rows;
    private final int[] freqs;

    /** Where documents have the term first; null unless asked for. */
    private final int[] firsts;

    private int terms;
    private int postings;

    Chunk(MatrixPlan.Piece piece, boolean positions) {
      text = new byte[piece.bytes()];
      textEnds = new int[piece.terms()];
      ends = new int[piece.terms()];
      rows = new int[piece.postings()];
      freqs = new int[piece.postings()];
      firsts = positions ? new int[piece.postings()] : null;
    }

    /** Adds a term and its postings, which {@code list} has come to. */
    void add(BytesRef term, FieldPostings list) throws IOException {
      int before = terms == 0 ? 0 : textEnds[terms - 1];
      System.arraycopy(term.bytes, term.offset, text, before, term.length);
      textEnds[terms] = before + term.length;
      list.readPostings(firsts == null ? PostingsEnum.FREQS : PostingsEnum.POSITIONS);
      for (int row = list.next(); row != FieldPostings.END; row = list.next()) {
        rows[postings] = row;
        if (firsts != null) {
          firsts[postings] = list.nextPosition();
        }
        freqs[postings++] = list.freq();
      }
      ends[terms++] = postings;
    }
  }
}
