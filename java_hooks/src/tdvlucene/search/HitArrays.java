package tdvlucene.search;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Index;
import tdvlucene.common.NpyWriter;

/**
 * Writes hits as arrays into a folder: of each topic how many there are ({@code counts}, int64), of
 * each hit its document, by number in the index, and its score ({@code documents}, int32; {@code
 * scores}, float32), and the ids of the documents that are among them, in the index's order ({@code
 * text}, uint8; {@code ends}, int64). Any id will do, for nothing has columns here.
 *
 * <p>So ids are read once a document. Memory: a bit for each document.
 */
final class HitArrays implements Closeable {
  private final FixedBitSet found;
  private final NpyWriter counts;
  private final NpyWriter documents;
  private final NpyWriter scores;
  private final NpyWriter text;
  private final NpyWriter ends;

  HitArrays(Path folder, int maxDoc) throws IOException {
    found = new FixedBitSet(maxDoc);
    counts = new NpyWriter(folder.resolve("counts.npy"), "<i8");
    documents = new NpyWriter(folder.resolve("documents.npy"), "<i4");
    scores = new NpyWriter(folder.resolve("scores.npy"), "<f4");
    text = new NpyWriter(folder.resolve("text.npy"), "|u1");
    ends = new NpyWriter(folder.resolve("ends.npy"), "<i8");
  }

  /** The hits of the next topic, best first. */
  void write(ScoreDoc[] hits) throws IOException {
    counts.writeLong(hits.length);
    for (ScoreDoc hit : hits) {
      found.set(hit.doc);
      documents.writeInt(hit.doc);
      scores.writeInt(Float.floatToRawIntBits(hit.score));
    }
  }

  /** To be called once all are written. */
  void writeIds(IndexReader reader, Index index) throws IOException {
    BitSetIterator next = new BitSetIterator(found, 0);
    ExternalIds ids = new ExternalIds(reader, index);
    while (next.nextDoc() != BitSetIterator.NO_MORE_DOCS) {
      BytesRef id = ids.of(next.docID());
      text.writeBytes(id.bytes, id.offset, id.length);
      ends.writeLong(text.bytes());
    }
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(counts, documents, scores, text, ends);
  }
}
