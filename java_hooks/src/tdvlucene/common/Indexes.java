package tdvlucene.common;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.lucene.codecs.DocValuesProducer;
import org.apache.lucene.codecs.FieldsProducer;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.LockObtainFailedException;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.IOUtils;

/** Opens indexes and looks up fields; its errors are in the user's words. */
public final class Indexes {
  /** Why nothing can be pruned of a field. */
  public static final String NO_TERM = "no live document has a term in it";

  private Indexes() {}

  /** Reads the last commit without opening its segments. */
  public static SegmentInfos lastCommit(String index) throws IOException {
    try (Directory directory = folder(index)) {
      return SegmentInfos.readLatestCommit(directory);
    } catch (IOException | IllegalArgumentException e) {
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

  /** Work on an opened index. */
  public interface Reading<T> {
    T of(IndexReader reader) throws Exception;
  }

  /**
   * Opens an index, reads, and closes it; what damage causes is told as damage. For work that is
   * done in a moment: anything longer is a {@link Job}.
   */
  public static <T> T read(Index index, Reading<T> reading) throws IOException {
    try (IndexReader reader = index.open()) {
      return reading.of(reader);
    } catch (Throwable t) { // also errors: a wrong length asks for any amount of memory
      throw IOUtils.rethrowAlways(Failures.explain(t, List.of(index), read -> {}));
    }
  }

  /** As above, of a reader of the index that stays open. */
  public static <T> T read(Index index, IndexReader reader, Reading<T> reading)
      throws IOException {
    try {
      return reading.of(reader);
    } catch (Throwable t) {
      throw IOUtils.rethrowAlways(Failures.explain(t, List.of(index), read -> {}));
    }
  }

  /** Opens the last commit of an index, or of each of its shards. */
  static IndexReader openLast(Index index) throws IOException {
    List<String> folders = index.folders();
    return folders.size() == 1 ? openFolder(folders.get(0)) : openShards(folders);
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

  /** Several indexes as one: their segments one after another, with statistics of the whole. */
  private static IndexReader openShards(List<String> folders) throws IOException {
    List<DirectoryReader> shards = new ArrayList<>();
    try {
      long documents = 0;
      for (String folder : folders) {
        shards.add(openFolder(folder));
        documents += shards.get(shards.size() - 1).maxDoc();
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
    try {
      return Segments.hideSoftDeleted(DirectoryReader.open(directory));
    } catch (IOException | IllegalArgumentException e) {
      directory.close();
      throw Failures.unreadable(index, e);
    }
  }

  /** Opens an index nobody is writing to. */
  static IndexReader openUnlocked(Index index) throws IOException {
    IndexReader reader = index.open();
    try {
      String locked = lockedFolder(reader, index);
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

  /** The first folder of an opened index that a writer holds; null for none. */
  public static String lockedFolder(IndexReader reader, Index index) throws IOException {
    List<DirectoryReader> shards = shardsOf(reader);
    for (int i = 0; i < shards.size(); i++) {
      String folder = index.folders().get(i);
      if (isLocked(shards.get(i).directory(), folder)) {
        return folder;
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

  /**
   * Compares the checksums of postings, norms and doc values: damaged blocks can decode to wrong
   * numbers without an error. Reads them once, at memory's speed where they are to be read anyway.
   */
  public static void checkIntegrity(IndexReader reader, Job job, Pool pool) throws IOException {
    List<Pool.Task> tasks = new ArrayList<>();
    for (LeafReaderContext leaf : reader.leaves()) {
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

  /** Whether a live document has a term in a field. */
  public static boolean hasLiveTerm(IndexReader reader, String field) throws IOException {
    for (LeafReaderContext leaf : reader.leaves()) {
      Terms terms = leaf.reader().terms(field);
      Bits live = leaf.reader().getLiveDocs();
      TermsEnum each = terms == null ? TermsEnum.EMPTY : terms.iterator();
      while (each.next() != null) {
        PostingsEnum postings = each.postings(null, PostingsEnum.NONE);
        for (int doc; (doc = postings.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS; ) {
          if (live == null || live.get(doc)) {
            return true;
          }
        }
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
            + " (fields with frequencies: "
            + (usable.isEmpty() ? "none" : String.join(", ", usable)) + ")");
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
