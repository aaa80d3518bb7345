package tdvlucene.common;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.codecs.CompoundDirectory;
import org.apache.lucene.codecs.DocValuesProducer;
import org.apache.lucene.codecs.FieldsProducer;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.index.SoftDeletesDirectoryReaderWrapper;
import org.apache.lucene.index.StandardDirectoryReader;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.LockObtainFailedException;
import org.apache.lucene.util.IOUtils;

/**
 * An index as every job takes it: a folder, or several that are read as one, its shards. Says what
 * an opened one consists of, and which of its fields can be used. Its errors are in the user's
 * words.
 *
 * <p>Once {@link #hold} has opened its last commit, everything reads that commit, so nothing can
 * change in between, whatever a writer does. Without, everything opens the last commit anew.
 *
 * <p>Lucene hides soft-deleted documents only from those who ask for it: to all that reads an index
 * here they are deleted.
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
    held = held == null ? openLast() : held;
  }

  /** Opens the commit that is held, or else the last one; to be closed by the caller. */
  public synchronized IndexReader open() throws IOException {
    if (held == null) {
      return openLast();
    }
    return new MultiReader(shardsOf(held).toArray(IndexReader[]::new), false); // they stay open
  }

  /** As {@link #open}, if nobody is writing to it. */
  IndexReader openUnlocked() throws IOException {
    IndexReader reader = open();
    try {
      String locked = lockedFolder(reader);
      if (locked != null) {
        throw new UserException(
            locked + " is locked: a writer has it open (" + IndexWriter.WRITE_LOCK_NAME
                + "); close it, or work on a copy of the folder");
      }
      return reader;
    } catch (Throwable t) {
      reader.close();
      throw t;
    }
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

  /** Work on an opened index. */
  public interface Reading<T> {
    T of(IndexReader reader) throws Exception;
  }

  /**
   * Opens the index, reads, and closes it; what damage causes is told as damage. For work that is
   * done in a moment: anything longer is a {@link Job}.
   */
  public <T> T read(Reading<T> reading) throws IOException {
    try (IndexReader reader = open()) {
      return reading.of(reader);
    } catch (Throwable t) { // also errors: a wrong length asks for any amount of memory
      throw IOUtils.rethrowAlways(Failures.explain(t, List.of(this), read -> {}));
    }
  }

  /** Opens the last commit; of shards, their segments one after another, with statistics of all. */
  private IndexReader openLast() throws IOException {
    List<DirectoryReader> shards = new ArrayList<>();
    try {
      long documents = 0;
      for (String folder : folders) {
        shards.add(openFolder(folder));
        documents += shards.get(shards.size() - 1).maxDoc();
      }
      if (shards.size() == 1) {
        return shards.get(0);
      }
      if (documents > IndexWriter.MAX_DOCS) {
        throw new UserException(
            "the shards hold " + documents + " documents, and one reader can number "
                + IndexWriter.MAX_DOCS + ": take some of them at a time");
      }
      IndexReader whole = new MultiReader(shards.toArray(IndexReader[]::new));
      requireSameFields(whole);
      return whole;
    } catch (Throwable t) {
      IOUtils.closeWhileHandlingException(shards);
      throw t;
    }
  }

  private static void requireSameFields(IndexReader whole) {
    try {
      FieldInfos.getMergedFieldInfos(whole);
    } catch (IllegalArgumentException e) { // Lucene's words name the field and both its kinds
      throw new UserException(
          "the shards were not indexed alike: " + e.getMessage() + "; index them with the same "
              + "options", e);
    }
  }

  private static DirectoryReader openFolder(String index) throws IOException {
    Directory directory = folder(index);
    DirectoryReader reader = null;
    try {
      reader = DirectoryReader.open(directory);
      for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
        if (info.isSoftDeletesField()) {
          return new SoftDeletesDirectoryReaderWrapper(reader, info.name);
        }
      }
      return reader;
    } catch (IOException | IllegalArgumentException e) {
      IOUtils.closeWhileHandlingException(reader, directory);
      throw Failures.unreadable(index, e);
    }
  }

  private static Directory folder(String index) throws IOException {
    Path path = Paths.get(index);
    if (!Files.isDirectory(path)) {
      boolean isPacked = index.matches(".*\\.(tar|tgz|gz|zip|zst)") && Files.exists(path);
      throw new UserException(
          "no such index: " + index + " is not a folder" + (isPacked ? ": unpack it first" : ""));
    }
    return FSDirectory.open(path);
  }

  /** Reads the last commit of a folder without opening its segments. */
  public static SegmentInfos lastCommit(String index) throws IOException {
    try (Directory directory = folder(index)) {
      return SegmentInfos.readLatestCommit(directory);
    } catch (IOException | IllegalArgumentException e) {
      throw Failures.unreadable(index, e);
    }
  }

  /** The first folder of the opened index that a writer holds; null for none. */
  public String lockedFolder(IndexReader reader) throws IOException {
    List<DirectoryReader> shards = shardsOf(reader);
    for (int i = 0; i < shards.size(); i++) {
      if (isLocked(shards.get(i).directory(), folders.get(i))) {
        return folders.get(i);
      }
    }
    return null;
  }

  /** Looks only where there is a lock file already. */
  private static boolean isLocked(Directory directory, String folder) throws IOException {
    if (!Files.exists(Paths.get(folder, IndexWriter.WRITE_LOCK_NAME))) {
      return false;
    }
    try {
      directory.obtainLock(IndexWriter.WRITE_LOCK_NAME).close();
      return false;
    } catch (LockObtainFailedException e) {
      return true;
    } catch (FileSystemException e) {
      return false; // a lock file we may not open: a read-only copy, to which nobody writes
    }
  }

  /** The shards of an opened index; of one that has none, itself. */
  public static List<DirectoryReader> shardsOf(IndexReader reader) {
    if (reader instanceof DirectoryReader folder) {
      return List.of(folder);
    }
    List<DirectoryReader> shards = new ArrayList<>();
    reader.getContext().children().forEach(each -> shards.add((DirectoryReader) each.reader()));
    return shards;
  }

  /** The commit of an opened index; of shards, that of the first. */
  public static SegmentInfos commitOf(IndexReader reader) {
    DirectoryReader opened = FilterDirectoryReader.unwrap(shardsOf(reader).get(0));
    return ((StandardDirectoryReader) opened).getSegmentInfos();
  }

  /** The user data of an opened commit; of shards, that of the first. */
  public static Map<String, String> userData(IndexReader reader) throws IOException {
    return shardsOf(reader).get(0).getIndexCommit().getUserData();
  }

  /** A fact that an opened index records of how a field was pruned, by its name; or null. */
  public static String recorded(IndexReader reader, String field, String name) throws IOException {
    Map<String, String> userData = userData(reader);
    boolean first = field.equals(userData.get("tdv.field"));
    return userData.get((first ? "tdv." : "tdv.fields." + field + ".") + name);
  }

  /** The segments of an opened index, as the commit of each shard has them. */
  public static List<SegmentCommitInfo> segmentsOf(IndexReader reader) {
    List<SegmentCommitInfo> segments = new ArrayList<>();
    shardsOf(reader).forEach(shard -> commitOf(shard).forEach(segments::add));
    return segments;
  }

  /** The segment that a leaf reads. */
  public static SegmentReader segmentOf(LeafReaderContext leaf) {
    return (SegmentReader) FilterCodecReader.unwrap((CodecReader) leaf.reader());
  }

  /** Documents that are hidden because they are soft-deleted, and not deleted otherwise. */
  public static int countSoftDeleted(IndexReader reader) {
    return segmentsOf(reader).stream().mapToInt(SegmentCommitInfo::getSoftDelCount).sum();
  }

  /** All that are deleted, those that are only soft-deleted too: nobody finds them either. */
  public static int countDeleted(IndexReader reader) {
    return countSoftDeleted(reader)
        + segmentsOf(reader).stream().mapToInt(SegmentCommitInfo::getDelCount).sum();
  }

  /**
   * Bytes by file extension ("" for segments_N).
   *
   * <p>Files inside a compound file count under their own extension; what remains of the compound
   * file (padding, headers) under its own. The sum is that of the commit's files on disk.
   */
  public static Map<String, Long> fileSizes(IndexReader reader) throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    for (DirectoryReader shard : shardsOf(reader)) {
      SegmentInfos commit = commitOf(shard);
      sizes.merge("", shard.directory().fileLength(commit.getSegmentsFileName()), Long::sum);
      for (SegmentCommitInfo segment : commit) {
        fileSizes(segment).forEach((file, length) ->
            sizes.merge(IndexFileNames.getExtension(file), length, Long::sum));
      }
    }
    return sizes;
  }

  /** As above, of a segment, by the names of files. */
  public static Map<String, Long> fileSizes(SegmentCommitInfo segment) throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    Directory folder = segment.info.dir;
    for (String file : segment.files()) {
      sizes.put(file, folder.fileLength(file));
    }
    if (segment.info.getUseCompoundFile()) {
      String compound = IndexFileNames.segmentFileName(segment.info.name, "", "cfs");
      try (CompoundDirectory inside = Lucene.openCompound(folder, segment.info)) {
        for (String file : inside.listAll()) {
          sizes.put(file, inside.fileLength(file));
          sizes.merge(compound, -inside.fileLength(file), Long::sum);
        }
      }
    }
    return sizes;
  }

  /**
   * Compares the checksums of postings, norms and doc values: damaged blocks can decode to wrong
   * numbers without an error. Reads them once, at memory's speed where they are to be read anyway.
   */
  public static void checkIntegrity(List<LeafReaderContext> leaves, Job job, Pool pool)
      throws IOException {
    List<Pool.Task> tasks = new ArrayList<>();
    for (LeafReaderContext leaf : leaves) {
      tasks.add(() -> {
        job.checkCancelled();
        CodecReader segment = (CodecReader) leaf.reader();
        FieldsProducer postings = segment.getPostingsReader();
        if (postings != null) {
          postings.checkIntegrity();
        }
        NormsProducer norms = segment.getNormsReader();
        if (norms != null) {
          norms.checkIntegrity();
        }
        DocValuesProducer columns = segment.getDocValuesReader();
        if (columns != null) {
          columns.checkIntegrity();
        }
      });
    }
    pool.run(tasks);
  }

  /** Why nothing can be pruned of a field. */
  public static final String NO_TERM = "no live document has a term in it";

  /** Whether a live document has a term in a field. */
  public static boolean hasLiveTerm(IndexReader reader, String field) throws IOException {
    FieldPostings postings = new FieldPostings(reader, field, new DocumentNumbers(reader));
    while (postings.nextTerm() != null) {
      postings.readPostings(PostingsEnum.NONE);
      if (postings.next() != FieldPostings.END) {
        return true;
      }
    }
    return false;
  }

  /** Whether any document had the field. */
  public static boolean hasField(IndexReader reader, String field) {
    return FieldInfos.getMergedFieldInfos(reader).fieldInfo(field) != null;
  }

  /**
   * The field's description; refuses unknown fields, and those whose frequencies are missing or
   * neither counts nor whole weights.
   */
  public static FieldInfo requireFrequencies(IndexReader reader, Index index, String field)
      throws IOException {
    FieldInfo info = FieldInfos.getMergedFieldInfos(reader).fieldInfo(field);
    String reason = info == null ? "" : whyNotCounted(reader, info);
    if (info != null && reason.isEmpty()) {
      return info;
    }
    List<String> usable = withFrequencies(reader);
    throw new UserException(
        (info == null
                ? "no field '" + field + "' in " + index
                : "field '" + field + "' of " + index + ": " + reason)
            + (usable.isEmpty()
                ? "; none of its fields has frequencies"
                : "; choose by field (--field) one that has frequencies: "
                    + String.join(", ", usable)));
  }

  /** Why a field has no frequencies that are counts or whole weights; empty where it has. */
  public static String whyNotCounted(IndexReader reader, FieldInfo info) throws IOException {
    if (info.getIndexOptions() == IndexOptions.NONE) {
      return "it is not indexed";
    }
    if (!hasFrequencies(info)) {
      return "index options " + info.getIndexOptions() + " hold no term frequencies";
    }
    return FrequencyKind.areFeatures(reader, info) ? FrequencyKind.WHY_NO_FEATURES : "";
  }

  /** The names of fields whose postings have counts or whole weights, which can be searched. */
  public static List<String> withFrequencies(IndexReader reader) throws IOException {
    List<String> names = new ArrayList<>();
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
      if (whyNotCounted(reader, info).isEmpty()) {
        names.add(info.name);
      }
    }
    return names;
  }

  /** How a field was indexed: all that Lucene wants to be the same throughout an index. */
  public static String describe(FieldInfo info) {
    return "index options " + info.getIndexOptions()
        + ", norms " + info.hasNorms()
        + ", term vectors " + Lucene.hasTermVectors(info)
        + ", doc values " + info.getDocValuesType()
        + ", points " + info.getPointDimensionCount() + "/" + info.getPointIndexDimensionCount()
        + "/" + info.getPointNumBytes()
        + ", vector " + info.getVectorDimension();
  }

  /** Whether the field's postings have positions. */
  public static boolean hasPositions(FieldInfo info) {
    return info.getIndexOptions().compareTo(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS) >= 0;
  }

  /** Whether the field's postings have frequencies. */
  public static boolean hasFrequencies(FieldInfo info) {
    return info.getIndexOptions().compareTo(IndexOptions.DOCS_AND_FREQS) >= 0;
  }
}
