package tdvlucene.search;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.NpyWriter;

/**
 * Writes a run as arrays into a folder: of each topic how many hits ({@code counts}), of each hit
 * its document, by number in the index, and its score ({@code documents}, {@code scores}), and the
 * {@code names} of the documents that are among them, a line each, in the index's order.
 *
 * <p>So ids are read once a document, and not compared at all. Memory: a bit for each document.
 */
final class RunArrays implements Closeable {
  private final Path folder;
  private final FixedBitSet found;
  private final NpyWriter counts;
  private final NpyWriter documents;
  private final NpyWriter scores;

  RunArrays(Path folder, int maxDoc) throws IOException {
    this.folder = folder;
    found = new FixedBitSet(maxDoc);
    counts = new NpyWriter(folder.resolve("counts.npy"), "<i8");
    documents = new NpyWriter(folder.resolve("documents.npy"), "<i4");
    scores = new NpyWriter(folder.resolve("scores.npy"), "<f8");
  }

  void write(RunLines lines) throws IOException {
    counts.writeLong(lines.size());
    documents.writeInts(lines.documents, lines.size());
    for (int i = 0; i < lines.size(); i++) {
      found.set(lines.documents[i]);
      scores.writeLong(Double.doubleToRawLongBits(lines.scores[i]));
    }
  }

  /** To be called once all is written. */
  void writeNames(IndexReader reader, String index) throws IOException {
    BitSetIterator next = new BitSetIterator(found, 0);
    try (BufferedWriter names = Files.newBufferedWriter(folder.resolve("names"))) {
      int doc = next.nextDoc();
      for (LeafReaderContext leaf : reader.leaves()) {
        ExternalIds ids = new ExternalIds(leaf, index);
        for (; doc < leaf.docBase + leaf.reader().maxDoc(); doc = next.nextDoc()) {
          names.append(ids.of(doc - leaf.docBase).utf8ToString()).append('\n');
        }
      }
    }
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(counts, documents, scores);
  }
}
