package tdvlucene.extract;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
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
 * range. Memory: eight bytes for each token of a range, and a bit for each term where some documents
 * are deleted.
 *
 * @param lengths tokens of each live document
 */
record TokenSequences(
    IndexReader reader, String field, DocumentNumbers live, int[] lengths, Job job) {
  /** Tokens of a range: 256 MB. */
  static final int TOKENS = 1 << 25;

  /** Writes {@code tokens.npy} and {@code tokens_indptr.npy}. */
  void write(Path output, int most) throws IOException {
    try (NpyWriter tokens = new NpyWriter(output, "tokens", "<i4");
        NpyWriter ends = new NpyWriter(output, "tokens_indptr", "<i8")) {
      BitSet gone = reader.hasDeletions() ? withoutLivePosting() : new BitSet();
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
          write(gone, from, to, size, tokens);
        }
        written += size;
        from = to;
      }
    }
  }

  /** The terms that stand in deleted documents alone, which have no number. */
  private BitSet withoutLivePosting() throws IOException {
    BitSet gone = new BitSet();
    FieldPostings postings = new FieldPostings(reader, field, live);
    for (int ordinal = 0; postings.nextTerm() != null; ordinal++) {
      postings.readPostings(PostingsEnum.NONE);
      gone.set(ordinal, postings.next() == FieldPostings.END);
    }
    return gone;
  }

  /** Writes the rows from {@code from} up to {@code to}, which hold {@code size} tokens. */
  private void write(BitSet gone, int from, int to, int size, NpyWriter tokens)
      throws IOException {
    int[] starts = new int[to - from + 1];
    for (int row = from; row < to; row++) {
      starts[row - from + 1] = starts[row - from] + lengths[row];
    }
    long[] placed = collect(gone, from, to, size, Arrays.copyOf(starts, to - from));
    int[] sequence = new int[size];
    for (int row = 0; row < to - from; row++) {
      Arrays.sort(placed, starts[row], starts[row + 1]);
    }
    for (int i = 0; i < size; i++) {
      sequence[i] = (int) placed[i];
    }
    tokens.writeInts(sequence, size);
  }

  /** The occurrences in these rows, row by row: position above term number. */
  private long[] collect(BitSet gone, int from, int to, int size, int[] next)
      throws IOException {
    long[] placed = new long[size];
    int first = live.doc(from);
    FieldPostings postings = new FieldPostings(reader, field, live);
    int term = 0;
    for (int ordinal = 0; postings.nextTerm() != null; ordinal++) {
      if (gone.get(ordinal)) {
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
