package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.Lock;
import org.apache.lucene.store.NoLockFactory;
import org.apache.lucene.util.IOUtils;

/**
 * The folder of an index, in which a writer's commits stay in memory.
 *
 * <p>So a writer adds segments and deletions to the folder, and nobody sees them: only the files
 * that say which segments make up the index are kept from it. The folder's lock is to be held
 * meanwhile; the writer itself takes none.
 */
final class Uncommitted extends FilterDirectory {
  private static final String PENDING = "pending_" + IndexFileNames.SEGMENTS;

  private final Directory commits = new ByteBuffersDirectory();

  /** What the writer does not see, and so does not remove. */
  private final Set<String> hidden;

  /**
   * Begins with some segments of the folder's last commit. The fields of the others need not be
   * those of what is added.
   */
  Uncommitted(Directory folder, SegmentInfos last, Collection<SegmentCommitInfo> kept)
      throws IOException {
    super(folder);
    SegmentInfos first = last.clone();
    first.clear();
    first.addAll(kept);
    first.commit(commits);
    hidden = new HashSet<>(last.files(false));
    hidden.removeAll(first.files(false));
  }

  private static boolean isCommit(String name) {
    return name.startsWith(IndexFileNames.SEGMENTS) || name.startsWith(PENDING);
  }

  private Directory of(String name) {
    return isCommit(name) ? commits : in;
  }

  @Override
  public String[] listAll() throws IOException {
    List<String> names = new ArrayList<>(Arrays.asList(in.listAll()));
    names.removeIf(name -> isCommit(name) || hidden.contains(name));
    names.addAll(Arrays.asList(commits.listAll()));
    names.sort(null);
    return names.toArray(new String[0]);
  }

  @Override
  public void deleteFile(String name) throws IOException {
    of(name).deleteFile(name);
  }

  @Override
  public long fileLength(String name) throws IOException {
    return of(name).fileLength(name);
  }

  @Override
  public IndexOutput createOutput(String name, IOContext context) throws IOException {
    return of(name).createOutput(name, context);
  }

  @Override
  public IndexInput openInput(String name, IOContext context) throws IOException {
    return of(name).openInput(name, context);
  }

  @Override
  public void sync(Collection<String> names) throws IOException {
    List<String> files = new ArrayList<>(names);
    files.removeIf(Uncommitted::isCommit);
    in.sync(files);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    of(from).rename(from, to);
  }

  @Override
  public Lock obtainLock(String name) throws IOException {
    return NoLockFactory.INSTANCE.obtainLock(in, name);
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(commits); // the folder is another's
  }
}
