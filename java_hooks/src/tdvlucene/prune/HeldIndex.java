package tdvlucene.prune;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.FileSwitchDirectory;
import org.apache.lucene.store.Lock;
import org.apache.lucene.store.LockObtainFailedException;
import org.apache.lucene.store.NoLockFactory;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Index;
import tdvlucene.common.UserException;

/** A pruned index to which nobody else writes for as long as this is open. */
public final class HeldIndex implements Closeable {
  final String index;
  final Directory folder;
  final Lock lock;

  public HeldIndex(String index) throws IOException {
    Index.lastCommit(index); // whoever has no index there is told so, and no lock is left
    this.index = index;
    this.folder = FSDirectory.open(Paths.get(index));
    try {
      lock = folder.obtainLock(IndexWriter.WRITE_LOCK_NAME);
    } catch (Throwable t) {
      folder.close();
      if (t instanceof LockObtainFailedException) {
        throw new UserException(
            index + " is locked: a writer or another update has it open ("
                + IndexWriter.WRITE_LOCK_NAME + "); wait until it has ended", t);
      }
      throw t;
    }
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(lock, folder);
  }

  /**
   * The folder of an index, in which a writer's commits stay in memory.
   *
   * <p>So a writer adds segments and deletions to the folder, and nobody sees them: only the files
   * that say which segments make up the index are kept from it. The folder's lock is to be held
   * meanwhile; the writer itself takes none.
   */
  static final class Uncommitted extends FileSwitchDirectory {
    /** Files that the writer does not see, and so does not remove. */
    private final Set<String> hidden;

    /**
     * Begins with some segments of the folder's last commit. The fields of the others need not be
     * those of what is added.
     */
    Uncommitted(Directory folder, SegmentInfos last, Collection<SegmentCommitInfo> kept)
        throws IOException {
      // Of all files, those of commits alone have no extension. The folder is another's to close.
      super(Set.of(""), new ByteBuffersDirectory(), folder, false);
      SegmentInfos first = last.clone();
      first.clear();
      first.addAll(kept);
      first.commit(getPrimaryDir());
      hidden = new HashSet<>(last.files(false));
      hidden.removeAll(first.files(false));
    }

    @Override
    public String[] listAll() throws IOException {
      List<String> names = new ArrayList<>(Arrays.asList(getSecondaryDir().listAll()));
      names.removeIf(name -> getExtension(name).isEmpty() || hidden.contains(name));
      names.addAll(Arrays.asList(getPrimaryDir().listAll()));
      names.sort(null);
      return names.toArray(new String[0]);
    }

    @Override
    public Lock obtainLock(String name) throws IOException {
      return NoLockFactory.INSTANCE.obtainLock(getSecondaryDir(), name);
    }
  }
}
