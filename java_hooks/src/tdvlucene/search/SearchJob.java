package tdvlucene.search;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.Pool;

/**
 * Searches topics and writes the best documents of each, with the scores they were ranked by, as
 * {@link HitArrays}.
 *
 * <p>Several threads search; hits are written in the order of the topics, and memory is bounded by
 * a few queries for each thread.
 */
public final class SearchJob extends Job {
  private static final int QUEUED_PER_THREAD = 4;

  private final SearchedIndex searched;
  private final Queries queries;
  private final Tiers tiers;
  private final int hits;
  private final int threads;
  private final Path folder;

  /**
   * @param searched an index that was opened; it stays open
   * @param tiers null to search the field of the queries alone
   */
  public SearchJob(
      SearchedIndex searched, Queries queries, Tiers tiers, int hits, int threads, String folder) {
    this.searched = searched;
    this.queries = queries;
    this.tiers = tiers;
    this.hits = hits;
    this.threads = threads;
    this.folder = Paths.get(folder);
  }

  @Override
  protected Object run() throws Exception {
    reads(searched.index);
    try (HitArrays arrays = new HitArrays(folder, searched.reader.maxDoc());
        Pool pool = new Pool(threads)) { // closed first, for the reader may be closed after this
      search(arrays, pool);
      arrays.writeIds(searched.reader, searched.index);
    }
    return null;
  }

  private void search(HitArrays arrays, Pool pool) throws IOException {
    List<Queries.Topic> topics = queries.parse();
    SearchedIndex.Search search = searched.search(tiers);
    phase("searching", topics.size());
    Iterator<Queries.Topic> waiting = topics.iterator();
    Deque<Future<ScoreDoc[]>> running = new ArrayDeque<>();
    while (waiting.hasNext() || !running.isEmpty()) {
      if (waiting.hasNext() && running.size() < threads * QUEUED_PER_THREAD) {
        Queries.Topic topic = waiting.next();
        running.add(pool.submit(() -> {
          checkCancelled(); // so that what is queued ends at once
          return search.best(topic, hits);
        }));
      } else {
        arrays.write(Pool.get(running.remove()));
        advance(1);
      }
    }
  }

  /**
   * Writes hits as arrays into a folder: of each topic how many there are ({@code counts}, int64), of
   * each hit its document, by number in the index, and its score ({@code documents}, int32; {@code
   * scores}, float32), and the ids of the documents that are among them, in the index's order ({@code
   * text}, uint8; {@code ends}, int64). Any id will do, for nothing has columns here.
   *
   * <p>So ids are read once a document. Memory: a bit for each document.
   */
  private static final class HitArrays implements Closeable {
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
}
