package tdvlucene.extract;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.NormKind;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.Pool;

/**
 * Writes a field's term-document matrix as NumPy arrays, in one pass over its postings.
 *
 * <p>Rows are the live documents, numbered from 0 in index order. Terms are in unsigned byte order;
 * terms without a live posting are left out. Needs neither term vectors nor stored text.
 *
 * <p>Several threads decode pieces of the vocabulary and the job's own thread writes them in
 * order, so the bytes do not depend on the number of threads. Memory: four bytes for each row, a
 * bit and a half for each document where some are deleted, and some megabytes for each thread.
 */
public final class ExtractJob extends Job {
  private static final int CHECK_EVERY = 1 << 16;

  private final Index index;
  private final String field;
  private final Path output;
  private final int threads;
  private final Queue<MatrixFiles.Chunk> spare = new ConcurrentLinkedQueue<>();
  private boolean positions;
  private boolean sequences;
  private DocumentNumbers live;

  /** Postings a thread reads at once. */
  public int pieceSize = MatrixPlan.POSTINGS;

  /** Tokens of sequences that are put in order at once. */
  public int rangeSize = TokenSequences.TOKENS;

  /**
   * @param positions also writes where each posting's document has the term first, and
   * @param sequences every document's tokens in order, where the field has positions
   */
  public ExtractJob(
      Index index, String field, String output, int threads, boolean positions,
      boolean sequences) {
    this.index = index;
    this.field = field;
    this.output = Paths.get(output);
    this.threads = threads;
    this.positions = positions;
    this.sequences = sequences;
  }

  /** Whether norms leave out tokens at the place of others: see {@link NormKind#OVERLAPS}. */
  @Override
  protected Object run() throws IOException {
    try (IndexReader reader = openUnlocked(index)) {
      FieldInfo info = Index.requireFrequencies(reader, index, field);
      positions &= Index.hasPositions(info);
      sequences &= Index.hasPositions(info);
      live = new DocumentNumbers(reader);
      int[] lengths = writePostings(reader);
      writeDocuments(reader, lengths);
      if (sequences) {
        phase("putting tokens in order", Arrays.stream(lengths).asLongStream().sum());
        TokenSequences ordered = new TokenSequences(reader, field, live, lengths, this);
        ordered.write(output, rangeSize);
      }
      return NormKind.ofLengths(reader, field) == NormKind.OVERLAPS;
    }
  }

  /** Returns the tokens of each row. */
  private int[] writePostings(IndexReader reader) throws IOException {
    try (MatrixFiles files = new MatrixFiles(output, live.size(), positions);
        Pool pool = new Pool(threads)) {
      Index.checkIntegrity(reader.leaves(), this, pool);
      phase("extracting postings", Math.max(0, reader.getSumDocFreq(field)));
      writePieces(reader, files, pool);
      files.finish();
      return files.lengths;
    }
  }

  private void writePieces(IndexReader reader, MatrixFiles files, Pool pool) throws IOException {
    FieldPostings terms = new FieldPostings(reader, field);
    MatrixPlan plan = new MatrixPlan(terms, live.size(), pieceSize);
    pool.runInOrder(
        () -> {
          MatrixPlan.Piece piece = plan.next();
          return piece == null ? null : () -> read(piece, reader);
        },
        2 * threads,
        chunk -> {
          files.write(chunk);
          progress(files.postings);
          spare.add(chunk);
        });
  }

  private MatrixFiles.Chunk read(MatrixPlan.Piece piece, IndexReader reader) throws IOException {
    checkCancelled();
    MatrixFiles.Chunk idle = spare.poll();
    MatrixFiles.Chunk chunk =
        idle == null ? new MatrixFiles.Chunk(reader, field, live, positions) : idle;
    chunk.read(piece);
    return chunk;
  }

  private void writeDocuments(IndexReader reader, int[] docLen) throws IOException {
    phase("extracting documents", live.size());
    ExternalIds external = new ExternalIds(reader, index);
    NumericDocValues norm = MultiDocValues.getNormValues(reader, field);
    try (NpyWriter lengths = new NpyWriter(output, "doc_len", "<i8");
        NpyWriter norms = new NpyWriter(output, "norms", "<i8");
        NpyWriter ids = new NpyWriter(output, "doc_ids", "|u1");
        NpyWriter idEnds = new NpyWriter(output, "doc_ids_indptr", "<i8")) {
      idEnds.writeLong(0);
      for (int row = 0; row < live.size(); row++) {
        int doc = live.doc(row);
        lengths.writeLong(docLen[row]);
        norms.writeLong(norm != null && norm.advanceExact(doc) ? norm.longValue() : 0);
        BytesRef id = external.of(doc);
        ids.writeBytes(id.bytes, id.offset, id.length);
        idEnds.writeLong(ids.bytes());
        if (row % CHECK_EVERY == 0) {
          progress(row);
        }
      }
    }
  }
}
