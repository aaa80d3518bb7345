package tdvlucene.index;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.NoLockFactory;
import tdvlucene.common.Job;

/**
 * Copies an index as Lucene merges it, each segment by itself: what rewriting is measured against.
 *
 * <p>The same writer, codec, merges and threads as {@link PruneJob}, on the readers as they are.
 */
public final class CopyJob extends Job {
  private final String index;
  private final Path output;
  private final int threads;

  /** @param output an existing, empty folder */
  public CopyJob(String index, String output, int threads) {
    this.index = index;
    this.output = Paths.get(output);
    this.threads = threads;
  }

  @Override
  protected void run() throws IOException {
    try (DirectoryReader reader = Indexes.openUnlocked(index);
        Pool pool = new Pool(threads)) {
      CodecReader[] readers =
          reader.leaves().stream()
              .map(leaf -> (CodecReader) leaf.reader())
              .toArray(CodecReader[]::new);
      IndexWriterConfig config = SourceSettings.of(reader);
      config.setMergePolicy(new SegmentMerges(false));
      config.setMergeScheduler(new PooledMerges(pool));
      try (Directory folder = FSDirectory.open(output, NoLockFactory.INSTANCE);
          IndexWriter writer = new IndexWriter(folder, config)) {
        writer.addIndexes(readers);
        writer.commit();
      }
    }
  }
}
