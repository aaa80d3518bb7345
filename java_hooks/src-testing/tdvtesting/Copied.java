package tdvtesting;

import java.io.IOException;
import java.nio.file.Paths;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.ConcurrentMergeScheduler;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterMergePolicy;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/**
 * Copies an index as Lucene merges it, each segment by itself: what rewriting is measured against.
 *
 * <p>With Lucene's defaults, so for indexes that Anserini wrote: no sort, no soft deletes.
 */
public final class Copied {
  private Copied() {}

  /** Copies into {@code output}, an existing, empty folder; {@code threads} in decimal digits. */
  public static void copy(String index, String output, String threads) throws IOException {
    ConcurrentMergeScheduler scheduler = new ConcurrentMergeScheduler();
    scheduler.setMaxMergesAndThreads(Integer.parseInt(threads), Integer.parseInt(threads));
    scheduler.disableAutoIOThrottle();
    IndexWriterConfig config = new IndexWriterConfig();
    config.setMergeScheduler(scheduler);
    config.setMergePolicy(new OneSegmentEach());
    try (Directory source = FSDirectory.open(Paths.get(index));
        DirectoryReader reader = DirectoryReader.open(source);
        Directory folder = FSDirectory.open(Paths.get(output));
        IndexWriter writer = new IndexWriter(folder, config)) {
      writer.addIndexes(
          reader.leaves().stream()
              .map(leaf -> (CodecReader) leaf.reader())
              .toArray(CodecReader[]::new));
      writer.commit();
    }
  }

  private static final class OneSegmentEach extends FilterMergePolicy {
    private OneSegmentEach() {
      super(NoMergePolicy.INSTANCE);
    }

    @Override
    public MergeSpecification findMerges(CodecReader... readers) {
      MergeSpecification merges = new MergeSpecification();
      for (CodecReader reader : readers) {
        merges.add(new OneMerge(reader));
      }
      return merges;
    }
  }
}
