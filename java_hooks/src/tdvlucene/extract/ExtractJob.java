package tdvlucene.extract;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.IndexPostings;
import tdvlucene.common.Indexes;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.Pool;
import tdvlucene.inspect.Identity;

/**
 * Writes a field's term-document matrix as NumPy arrays, in one pass over its postings.
 *
 * <p>Rows are the live documents, or those of them that were selected, numbered from 0 in index
 * order. Terms are in unsigned byte order; terms without a live posting are left out. Term
 * statistics count all live documents. Needs neither term vectors nor stored text.
 *
 * <p>Several threads decode pieces of the vocabulary and the job's own thread writes them in
 * order, so the bytes do not depend on the number of threads. Memory: four bytes for each row, a
 * bit and a half for each document where some are left out, and some megabytes for each thread.
 */
public final class ExtractJob extends Job {
  private static final int CHECK_EVERY = 1 << 16;

  private final String index;
  private final String field;
  private final Path output;
  private final int threads;
  private final Queue<Reader> idle = new ConcurrentLinkedQueue<>();
  private final Queue<MatrixChunk> spare = new ConcurrentLinkedQueue<>();
  private int pieceSize = MatrixPlan.POSTINGS;
  private String wantedIds;
  private boolean positions;
  private boolean sequences;
  private int rangeSize = TokenSequences.TOKENS;
  private boolean fieldMayBeAbsent;
  private DocumentNumbers live;

  /** The documents that get rows; the live ones when nothing was selected. */
  private DocumentNumbers rows;

  private String result = "";

  public ExtractJob(String index, String field, String output, int threads) {
    this.index = index;
    this.field = field;
    this.output = Paths.get(output);
    this.threads = threads;
  }

  /** Gives rows only to the documents with these ids. @param file UTF-8, an id a line */
  public void setDocuments(String file) {
    wantedIds = file;
  }

  /** Takes an index without the field for one whose documents have no token in it. */
  public void allowAbsentField() {
    fieldMayBeAbsent = true;
  }

  /** Also writes where each posting's document has the term first, if the field has positions. */
  public void readPositions() {
    positions = true;
  }

  /** Also writes every document's tokens in order, if the field has positions. */
  public void readSequences() {
    sequences = true;
  }

  /** Tokens of sequences that are put in order at once. */
  public void setRangeSize(int tokens) {
    rangeSize = tokens;
  }

  /** Postings a thread reads at once. */
  public void setPieceSize(int postings) {
    pieceSize = postings;
  }

  /**
   * JSON: {@code source}, the identity of the commit that was read; and of the whole index {@code
   * documents}, {@code doc_count} (those with a token), {@code postings} and {@code tokens}.
   */
  @Override
  public String result() {
    return result;
  }

  @Override
  protected void run() throws IOException {
    try (DirectoryReader reader = openUnlocked(index)) {
      run(reader);
    }
  }

  private void run(DirectoryReader reader) throws IOException {
    if (!fieldMayBeAbsent || Indexes.hasField(reader, field)) {
      FieldInfo info = Indexes.requireFrequencies(reader, index, field);
      positions &= Indexes.hasPositions(info);
      sequences &= Indexes.hasPositions(info);
    }
    live = DocumentNumbers.ofLive(reader);
    rows = live;
    if (wantedIds != null) {
      phase("finding the documents", reader.maxDoc());
      rows = new Selection(index, Paths.get(wantedIds)).of(reader, this::progress);
    }
    Map<String, Object> totals = new TreeMap<>();
    totals.put("documents", live.size());
    int[] lengths = writePostings(reader, totals);
    totals.put("doc_count", countNonEmpty(reader, lengths));
    writeDocuments(reader, lengths);
    if (sequences) {
      phase("putting tokens in order", (Long) totals.get("tokens"));
      TokenSequences ordered = new TokenSequences(reader, field, live, lengths, this);
      ordered.write(MultiTerms.getTerms(reader, field), output, rangeSize);
    }
    Indexes.requireCurrent(reader, index);
    totals.put("source", Identity.of(reader));
    result = Json.of(totals);
  }

  private NpyWriter array(String name, String dtype) throws IOException {
    return new NpyWriter(output.resolve(name + ".npy"), dtype);
  }

  /** Returns the tokens of each row. */
  private int[] writePostings(DirectoryReader reader, Map<String, Object> totals)
      throws IOException {
    Terms terms = MultiTerms.getTerms(reader, field);
    try (MatrixFiles files = new MatrixFiles(output, rows.size(), positions);
        Pool pool = new Pool(threads)) {
      Indexes.checkIntegrity(reader, this, pool);
      if (terms != null) {
        phase("extracting postings", Math.max(0, terms.getSumDocFreq()));
        writePieces(reader, terms, files, pool);
      }
      files.finish();
      totals.put("postings", files.allPostings());
      totals.put("tokens", files.allTokens());
      return files.lengths();
    }
  }

  private void writePieces(DirectoryReader reader, Terms terms, MatrixFiles files, Pool pool)
      throws IOException {
    MatrixPlan plan = new MatrixPlan(terms, reader.maxDoc(), pieceSize);
    Queue<Future<MatrixChunk>> ahead = new ArrayDeque<>();
    MatrixPlan.Piece piece = plan.next();
    while (piece != null || !ahead.isEmpty()) {
      if (piece != null && ahead.size() < 2 * threads) {
        MatrixPlan.Piece next = piece;
        ahead.add(pool.submit(() -> read(next, reader, terms)));
        piece = plan.next();
      } else {
        MatrixChunk chunk = Pool.get(ahead.remove());
        files.write(chunk);
        progress(files.allPostings());
        spare.add(chunk);
      }
    }
  }

  private MatrixChunk read(MatrixPlan.Piece piece, DirectoryReader reader, Terms terms)
      throws IOException {
    checkCancelled();
    Reader in = idle.poll();
    in = in == null ? new Reader(reader, terms) : in;
    MatrixChunk chunk = spare.poll();
    chunk = chunk == null ? new MatrixChunk() : chunk;
    in.read(piece, chunk);
    idle.add(in);
    return chunk;
  }

  /** What a thread reads with. */
  private final class Reader {
    private final TermsEnum each;
    private final IndexPostings postings;

    /** Documents met, where rows and the dictionary cannot tell how many have a token. */
    private final FixedBitSet met;

    private Reader(DirectoryReader reader, Terms terms) throws IOException {
      this.each = terms.iterator();
      this.postings = new IndexPostings(reader, field);
      this.met = rows == live || live.areAll() ? null : new FixedBitSet(reader.maxDoc());
    }

    private void read(MatrixPlan.Piece piece, MatrixChunk chunk) throws IOException {
      chunk.clear(piece.from > 0);
      BytesRef term = each.seekCeil(piece.first) == TermsEnum.SeekStatus.END ? null : each.term();
      while (term != null && (piece.isPart() || !term.equals(piece.stop))) {
        chunk.addTerm(term);
        postings.reset(each, positions ? PostingsEnum.POSITIONS : PostingsEnum.FREQS);
        if (rows == live) {
          int most = piece.isPart() ? piece.postings : each.docFreq();
          chunk.read(postings, live, positions, piece.from, piece.to, most);
        } else {
          chunk.select(postings, live, rows, met, positions, piece.from, piece.to);
        }
        term = piece.isPart() ? null : each.next();
      }
    }
  }

  /** Live documents with a token, also those not selected. */
  private int countNonEmpty(DirectoryReader reader, int[] docLen) throws IOException {
    if (rows == live) {
      return (int) Arrays.stream(docLen).filter(length -> length > 0).count();
    }
    if (live.areAll()) {
      return reader.getDocCount(field);
    }
    FixedBitSet met = new FixedBitSet(reader.maxDoc());
    idle.forEach(in -> met.or(in.met));
    return met.cardinality();
  }

  private void writeDocuments(DirectoryReader reader, int[] docLen) throws IOException {
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
      LeafReaderContext leaf, NpyWriter norms, NpyWriter ids, NpyWriter idEnds)
      throws IOException {
    ExternalIds external = new ExternalIds(leaf, index);
    NumericDocValues norm = leaf.reader().getNormValues(field);
    for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
      if (rows.of(leaf.docBase + doc) >= 0) {
        norms.writeLong(norm != null && norm.advanceExact(doc) ? norm.longValue() : 0);
        BytesRef id = external.of(doc);
        ids.writeBytes(id.bytes, id.offset, id.length);
        idEnds.writeLong(ids.bytes());
      }
      if (doc % CHECK_EVERY == 0) {
        progress(leaf.docBase + doc);
      }
    }
  }
}
