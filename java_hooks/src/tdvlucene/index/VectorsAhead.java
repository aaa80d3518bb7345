package tdvlucene.index;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Future;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.Fields;

/**
 * Pruned term vectors, read and pruned by other threads a little ahead of the merge.
 *
 * <p>A segment is merged by one thread, and its vectors take most of the time: decoding a vector
 * costs four times what writing the pruned one does. For segments whose only vectors are the
 * pruned field's, without positions; others go through {@link PrunedVectors}. Memory: some blocks
 * a thread.
 */
final class VectorsAhead extends TermVectorsReader {
  private static final int BLOCKS_PER_THREAD = 4;

  private final TermVectorsReader in;
  private final Pruning pruning;
  private final Pool pool;
  private final Deque<Future<VectorBlock>> ahead = new ArrayDeque<>();
  private int next;
  private VectorBlock current;

  VectorsAhead(TermVectorsReader in, Pruning pruning, Pool pool) {
    this.in = in;
    this.pruning = pruning;
    this.pool = pool;
  }

  /** Documents come in order, as a merge asks for them. */
  @Override
  public Fields get(int doc) throws IOException {
    int wanted = doc / VectorBlock.DOCUMENTS;
    while (current == null || current.number < wanted) {
      current = takeNext();
    }
    return current.get(doc);
  }

  private VectorBlock takeNext() throws IOException {
    int blocks = (pruning.segment.reader.maxDoc() - 1) / VectorBlock.DOCUMENTS + 1;
    while (next < blocks && ahead.size() < BLOCKS_PER_THREAD * pool.size()) {
      int number = next++;
      ahead.add(pool.submit(() -> new VectorBlock(pruning, in.clone(), number)));
    }
    return Pool.get(ahead.remove());
  }

  @Override
  public void checkIntegrity() throws IOException {
    in.checkIntegrity();
  }

  @Override
  public TermVectorsReader clone() {
    return new VectorsAhead(in.clone(), pruning, pool);
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
