package tdvlucene.extract;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.PostingsEnum;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.Job;
import tdvlucene.common.NpyWriter;

/**
 * Writes the term numbers of every live document in the order of their positions: what its text
 * was, as far as the index knows it. Gaps in the positions leave no trace; terms at one position
 * stand in the order of terms.
 *
 * <p>Documents are taken in ranges whose tokens fit into a buffer, and the postings are read once a
 * range. Memory: eight bytes for each token of a range.
 *
 * @param matrix of the same field, written: the tokens of each document, and the terms left out
 */
record TokenSequences(
    IndexReader reader, String field, DocumentNumbers live, MatrixFiles matrix, Job job) {
  /** Tokens of a range: 256 MB. */
  static final int TOKENS = 1 << 25;

  /** Writes {@code tokens.npy} and {@code tokens_indptr.npy}. */
  void write(Path output, int most) throws IOException {
    try (NpyWriter tokens = new NpyWriter(output, "tokens", "<i4");
        NpyWriter ends = new NpyWriter(output, "tokens_indptr", "<i8")) {
      int[] lengths = matrix.lengths;
      long written = 0;
      ends.writeLong(written);
      for (int from = 0; from < lengths.length; ) {
        int to = from;
        int size = 0;
        while (to < lengths.length && (to == from || size + lengths[to] <= most)) {
          size += lengths[to++];
          ends.writeLong(written + size);
        }
        if (size > 0) {
          write(from, to, size, tokens);
        }
        written += size;
        from = to;
      }
    }
  }

  /** Writes the rows from {@code from} up to {@code to}, which hold {@code size} tokens. */
  private void write(int from, int to, int size, NpyWriter tokens) throws IOException {
    int[] starts = new int[to - from + 1];
    for (int row = from; row < to; row++) {
      starts[row - from + 1] = starts[row - from] + matrix.lengths[row];
    }
    long[] placed = collect(from, to, size, Arrays.copyOf(starts, to - from));
    for (int row = 0; row < to - from; row++) {
      Arrays.sort(placed, starts[row], starts[row + 1]);
    }
    for (long each : placed) {
      tokens.writeInt((int) each);
    }
  }

  /** The occurrences in these rows, row by row: position above term number. */
  private long[] collect(int from, int to, int size, int[] next) throws IOException {
    long[] placed = new long[size];
    int first = live.doc(from);
    FieldPostings postings = new FieldPostings(reader, field, live);
    int term = 0;
    for (int ordinal = 0; postings.nextTerm() != null; ordinal++) {
      if (matrix.gone.get(ordinal)) {
        continue;
      }
      postings.readPostings(PostingsEnum.POSITIONS);
      long met = 0;
      for (int row = postings.advance(first); row < to; row = postings.next()) {
        met += postings.freq();
        for (int left = postings.freq(); left > 0; left--) {
          placed[next[row - from]++] = (long) postings.nextPosition() << 32 | term;
        }
      }
      term++;
      job.advance(met);
    }
    return placed;
  }
}
