package tdvlucene.common;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.MultiReader;
import org.apache.lucene.util.IOUtils;

/**
 * An index as every job takes it: a folder, or several that are read as one, its shards.
 *
 * <p>Once {@link #hold} has opened its last commit, everything reads that commit, so nothing can
 * change in between, whatever a writer does. Without, everything opens the last commit anew.
 */
public final class Index implements Closeable {
  private final List<String> folders;
  private final String idField;
  private IndexReader held;

  /**
   * @param folders absolute
   * @param idField the field that is to name documents; null for the one that the index says
   */
  public Index(String[] folders, String idField) {
    this.folders = List.of(folders);
    this.idField = idField;
  }

  /** The folders of an index: of most, one. */
  public List<String> folders() {
    return folders;
  }

  /** The field that was asked for as the documents' id; null for none. */
  String idField() {
    return idField;
  }

  /** Opens the last commit, and keeps it open until this is closed. */
  public synchronized void hold() throws IOException {
    held = held == null ? Indexes.openLast(this) : held;
  }

  /** Opens the commit that is held, or else the last one; to be closed by the caller. */
  public synchronized IndexReader open() throws IOException {
    if (held == null) {
      return Indexes.openLast(this);
    }
    return held instanceof DirectoryReader folder ? new Shared(folder) : share((MultiReader) held);
  }

  private static IndexReader share(MultiReader whole) throws IOException {
    List<DirectoryReader> shards = Indexes.shardsOf(whole);
    IndexReader[] shared = new IndexReader[shards.size()];
    for (int i = 0; i < shared.length; i++) {
      shared[i] = new Shared(shards.get(i));
    }
    return new MultiReader(shared);
  }

  @Override
  public synchronized void close() throws IOException {
    IOUtils.close(held);
    held = null;
  }

  /** As users name it. */
  @Override
  public String toString() {
    return String.join(", ", folders);
  }

  /** A reader of a commit that others read, too: closing it leaves the commit open for them. */
  private static final class Shared extends FilterDirectoryReader {
    Shared(DirectoryReader held) throws IOException {
      super(held, new SubReaderWrapper() {
        @Override
        public LeafReader wrap(LeafReader reader) {
          return reader;
        }
      });
      held.incRef();
    }

    @Override
    protected DirectoryReader doWrapDirectoryReader(DirectoryReader in) throws IOException {
      return new Shared(in);
    }

    @Override
    protected void doClose() throws IOException {
      in.decRef();
    }

    @Override
    public CacheHelper getReaderCacheHelper() {
      return in.getReaderCacheHelper();
    }
  }
}
