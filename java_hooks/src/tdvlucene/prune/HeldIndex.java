package tdvlucene.prune;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Paths;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.Lock;
import org.apache.lucene.store.LockObtainFailedException;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Indexes;
import tdvlucene.common.UserException;

/** A pruned index to which nobody else writes for as long as this is open. */
public final class HeldIndex implements Closeable {
  final String index;
  final Directory folder;
  private final Lock lock;

  public HeldIndex(String index) throws IOException {
    Indexes.lastCommit(index); // whoever has no index there is told so, and no lock is left
    this.index = index;
    this.folder = FSDirectory.open(Paths.get(index));
    try {
      lock = folder.obtainLock(IndexWriter.WRITE_LOCK_NAME);
    } catch (LockObtainFailedException e) {
      folder.close();
      throw new UserException(
          index + " is locked: a writer or another update has it open ("
              + IndexWriter.WRITE_LOCK_NAME + "); wait until it has ended", e);
    } catch (Throwable t) {
      folder.close();
      throw t;
    }
  }

  /** Fails where somebody removed the lock's file. */
  void requireHeld() throws IOException {
    lock.ensureValid();
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(lock, folder);
  }
}
