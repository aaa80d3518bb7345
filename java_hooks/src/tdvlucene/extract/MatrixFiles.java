package tdvlucene.extract;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.BytesRefBuilder;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.DocumentNumbers;
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

  /** The term met last: more of it may follow. */
  private final BytesRefBuilder term = new BytesRefBuilder();

  private long totalTermFreq;

  /** Postings up to the end of the current term, and before it. */
  long postings;

  private long before;

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

  void write(Chunk chunk) throws IOException {
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

  /**
   * A piece of a term-document matrix on its way from the postings to the files.
   *
   * <p>Holds either some terms with all their postings, or a stretch of one long list. It is reused
   * and grows to the largest piece, whose size {@link MatrixPlan} bounds.
   */
  static final class Chunk {
    private final FieldPostings list;
    private final DocumentNumbers live;
    private final boolean positions;

    /** Terms after one another, and where each ends. */
    private byte[] text = new byte[0];

    private int[] textEnds = new int[0];

    /** Where each term's postings end in {@link #rows} and {@link #freqs}. */
    private int[] ends = new int[0];

    private int[] rows = new int[0];
    private int[] freqs = new int[0];

    /** Where documents have the term first; filled if it was asked for. */
    private int[] firsts = new int[0];

    private int terms;
    private int postings;

    /** Whether this continues the term at which the chunk before stopped. */
    private boolean continued;

    /** @param positions whether the first ones are read */
    Chunk(IndexReader reader, String field, DocumentNumbers live, boolean positions)
        throws IOException {
      this.list = new FieldPostings(reader, field, live);
      this.live = live;
      this.positions = positions;
    }

    /** Reads a piece, in place of what there was. */
    void read(MatrixPlan.Piece piece) throws IOException {
      continued = piece.from() > 0;
      terms = 0;
      postings = 0;
      BytesRef term = list.nextTerm(piece.first());
      while (term != null && (piece.isPart() || !term.equals(piece.stop()))) {
        addTerm(term);
        list.readPostings(positions ? PostingsEnum.POSITIONS : PostingsEnum.FREQS);
        addPostings(piece.from(), piece.to(), piece.isPart() ? piece.postings() : list.docFreq());
        term = piece.isPart() ? null : list.nextTerm();
      }
    }

    private void addTerm(BytesRef term) {
      int before = terms == 0 ? 0 : textEnds[terms - 1];
      text = ArrayUtil.grow(text, before + term.length);
      System.arraycopy(term.bytes, term.offset, text, before, term.length);
      textEnds = ArrayUtil.grow(textEnds, terms + 1);
      ends = ArrayUtil.grow(ends, terms + 1);
      textEnds[terms] = before + term.length;
      terms++;
    }

    /** Adds those of live documents {@code from} up to {@code to}, the term's. */
    private void addPostings(int from, int to, int most) throws IOException {
      rows = ArrayUtil.grow(rows, postings + most);
      freqs = ArrayUtil.grow(freqs, postings + most);
      firsts = positions ? ArrayUtil.grow(firsts, postings + most) : firsts;
      int first = from == 0 ? 0 : live.doc(from);
      for (int row = list.advance(first); row < to; row = list.next()) {
        rows[postings] = row;
        if (positions) {
          firsts[postings] = list.nextPosition();
        }
        freqs[postings++] = list.freq();
      }
      ends[terms - 1] = postings;
    }
  }
}
