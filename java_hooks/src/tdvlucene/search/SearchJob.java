package tdvlucene.search;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Job;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.Pool;

/**
 * Searches topics and writes the best documents of each, with the scores they were ranked by, as
 * arrays; or counts what the searches cost.
 *
 * <p>Several threads search; hits are written in the order of the topics, and memory is bounded by
 * a few queries for each thread, and a bit for each document.
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
   * @param folder gets of each topic how many hits there are (counts.npy, int64), of each hit its
   *     document, by number in the index, and its score (documents.npy, int32; scores.npy, float32),
   *     and those by each further similarity of {@code searched} (others.npy, float32, hit by hit);
   *     and the ids of the documents that are among them, in the index's order (text.npy, uint8;
   *     ends.npy, int64). Empty: only counts the postings at which searches stop
   */
  public SearchJob(
      SearchedIndex searched, Queries queries, Tiers tiers, int hits, int threads, String folder) {
    this.searched = searched;
    this.queries = queries;
    this.tiers = tiers;
    this.hits = hits;
    this.threads = threads;
    this.folder = folder.isEmpty() ? null : Paths.get(folder);
  }

  /**
   * JSON: nothing; or the postings of all topics together, in finding documents and in ranking
   * them, without feedback.
   */
  @Override
  protected Object run() throws Exception {
    reads(searched.index);
    try (Pool pool = new Pool(threads)) {
      return folder == null ? countVisits(pool) : writeHits(pool);
    }
  }

  private List<Long> countVisits(Pool pool) throws IOException {
    AtomicLong found = new AtomicLong();
    AtomicLong ranked = new AtomicLong();
    IndexSearcher finding = CountingReader.like(searched.searcher(), found);
    IndexSearcher ranking = CountingReader.like(searched.searcher(), ranked);
    List<Pool.Task> tasks = new ArrayList<>();
    for (Queries.Topic topic : queries.parse()) {
      tasks.add(() -> {
        checkCancelled();
        Tiers.search(tiers, finding, ranking, topic.query(), hits);
      });
    }
    pool.run(tasks);
    return List.of(found.get(), ranked.get());
  }

  private record Answer(ScoreDoc[] best, float[][] others) {}

  private Void writeHits(Pool pool) throws IOException {
    FixedBitSet found = new FixedBitSet(searched.reader.maxDoc());
    try (NpyWriter counts = new NpyWriter(folder, "counts", "<i8");
        NpyWriter documents = new NpyWriter(folder, "documents", "<i4");
        NpyWriter scores = new NpyWriter(folder, "scores", "<f4");
        NpyWriter others = new NpyWriter(folder, "others", "<f4")) {
      List<Queries.Topic> topics = queries.parse();
      SearchedIndex.Search search = searched.search(tiers);
      phase("searching", topics.size());
      Iterator<Queries.Topic> waiting = topics.iterator();
      pool.<Answer>runInOrder(
          () -> {
            Queries.Topic topic = waiting.hasNext() ? waiting.next() : null;
            return topic == null ? null : () -> {
              checkCancelled(); // so that what is queued ends at once
              ScoreDoc[] best = search.best(topic, hits);
              return new Answer(best, searched.otherScores(topic, best));
            };
          },
          threads * QUEUED_PER_THREAD,
          answer -> {
            counts.writeLong(answer.best.length);
            for (int i = 0; i < answer.best.length; i++) {
              ScoreDoc hit = answer.best[i];
              found.set(hit.doc);
              documents.writeInt(hit.doc);
              scores.writeInt(Float.floatToRawIntBits(hit.score));
              for (float[] by : answer.others) {
                others.writeInt(Float.floatToRawIntBits(by[i]));
              }
            }
            advance(1);
          });
    }
    writeIds(new BitSetIterator(found, 0));
    return null;
  }

  /** Any id will do, for nothing has columns here. So each is read once. */
  private void writeIds(BitSetIterator found) throws IOException {
    ExternalIds ids = new ExternalIds(searched.reader, searched.index);
    try (NpyWriter text = new NpyWriter(folder, "text", "|u1");
        NpyWriter ends = new NpyWriter(folder, "ends", "<i8")) {
      while (found.nextDoc() != BitSetIterator.NO_MORE_DOCS) {
        BytesRef id = ids.of(found.docID());
        text.writeBytes(id.bytes, id.offset, id.length);
        ends.writeLong(text.bytes());
      }
    }
  }
}
