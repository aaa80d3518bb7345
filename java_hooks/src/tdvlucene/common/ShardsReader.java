package tdvlucene.common;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexCommit;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.IOUtils;

/**
 * Several indexes read as one: their segments one after another, with statistics of the whole.
 *
 * <p>Lucene's {@code MultiReader} for those who ask for a {@code DirectoryReader}. What only one
 * folder has (a commit, a version) it does not know: ask the shards.
 */
final class ShardsReader extends DirectoryReader {
  private final List<DirectoryReader> shards;

  private ShardsReader(List<DirectoryReader> shards, LeafReader[] segments) throws IOException {
    super(shards.get(0).directory(), segments, null);
    this.shards = List.copyOf(shards);
  }

  /** Takes the readers over: closing it closes them; on failure, too. */
  static ShardsReader of(List<DirectoryReader> shards) throws IOException {
    try {
      long documents = 0;
      List<LeafReader> segments = new ArrayList<>();
      for (DirectoryReader shard : shards) {
        documents += shard.maxDoc();
        for (LeafReaderContext leaf : shard.leaves()) {
          segments.add(leaf.reader());
        }
      }
      if (documents > IndexWriter.MAX_DOCS) {
        throw new UserException(
            "the shards hold " + documents + " documents, and one reader can number "
                + IndexWriter.MAX_DOCS + ": take some of them at a time");
      }
      ShardsReader whole = new ShardsReader(shards, segments.toArray(new LeafReader[0]));
      requireSameFields(whole);
      return whole;
    } catch (Throwable t) {
      IOUtils.closeWhileHandlingException(shards);
      throw t;
    }
  }

  private static void requireSameFields(DirectoryReader whole) {
    try {
      FieldInfos.getMergedFieldInfos(whole);
    } catch (IllegalArgumentException e) { // Lucene's words name the field and both its kinds
      throw new UserException(
          "the shards were not indexed alike: " + e.getMessage() + "; index them with the same "
              + "options", e);
    }
  }

  List<DirectoryReader> shards() {
    return shards;
  }

  @Override
  protected void doClose() throws IOException {
    IOUtils.close(shards);
  }

  @Override
  public boolean isCurrent() throws IOException {
    for (DirectoryReader shard : shards) {
      if (!shard.isCurrent()) {
        return false;
      }
    }
    return true;
  }

  @Override
  protected DirectoryReader doOpenIfChanged() {
    throw new UnsupportedOperationException();
  }

  @Override
  protected DirectoryReader doOpenIfChanged(IndexCommit commit) {
    throw new UnsupportedOperationException();
  }

  @Override
  protected DirectoryReader doOpenIfChanged(IndexWriter writer, boolean applyAllDeletes) {
    throw new UnsupportedOperationException();
  }

  // Lucene 10's, which Lucene 9 has not.

  protected DirectoryReader doOpenIfChanged(ExecutorService executor) {
    throw new UnsupportedOperationException();
  }

  protected DirectoryReader doOpenIfChanged(IndexCommit commit, ExecutorService executor) {
    throw new UnsupportedOperationException();
  }

  protected DirectoryReader doOpenIfChanged(
      IndexWriter writer, boolean applyAllDeletes, ExecutorService executor) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long getVersion() {
    throw new UnsupportedOperationException();
  }

  @Override
  public IndexCommit getIndexCommit() {
    throw new UnsupportedOperationException();
  }

  @Override
  public CacheHelper getReaderCacheHelper() {
    return null;
  }
}
