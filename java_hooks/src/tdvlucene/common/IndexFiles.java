package tdvlucene.common;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.LongConsumer;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.store.BufferedChecksumIndexInput;
import org.apache.lucene.store.ChecksumIndexInput;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.NoLockFactory;

/**
 * The files of an index's last commit, checked without the codecs that read them.
 *
 * <p>Every file of Lucene's begins with a magic number and ends with a checksum of all that comes
 * before. Readers compare the checksums of small files when they open them, but those of terms,
 * postings, norms and stored fields only when segments are merged.
 */
public final class IndexFiles {
  /**
   * Files of up to so many bytes together are compared with their checksums before an index is
   * used: half a second where they are in memory, and they are read anyway.
   */
  public static final long CHEAP_BYTES = 1L << 29;

  private static final int STEP = 1 << 20;

  /** Extensions of what a search does not read, unless it fetches documents or asks for more. */
  private static final Set<String> NOT_SEARCHED =
      Set.of("fdt", "fdx", "fdm", "tvd", "tvx", "tvm", "pos", "pay", "kdd", "kdi", "kdm", "vec",
          "vem", "vex", "vemf", "veq", "vemq");

  final String index;
  private final String commit;

  /** Their lengths, by name; 0 for one that is missing. */
  private final SortedMap<String, Long> lengths;

  private IndexFiles(String index, String commit, SortedMap<String, Long> lengths) {
    this.index = index;
    this.commit = commit;
    this.lengths = lengths;
  }

  /**
   * The files that the last commit names; where a commit cannot be read, all files in the folder
   * that have a name of Lucene's. Empty where there is no commit.
   */
  public static IndexFiles of(String index) throws IOException {
    if (!Files.isDirectory(Paths.get(index))) { // Lucene would make a folder of this name
      throw new NoSuchFileException(index);
    }
    try (Directory folder = open(index)) {
      String commit = SegmentInfos.getLastCommitSegmentsFileName(folder);
      SortedMap<String, Long> lengths = new TreeMap<>();
      for (String name : commit == null ? List.<String>of() : names(folder, commit)) {
        lengths.put(name, lengthOf(folder, name));
      }
      return new IndexFiles(index, commit, lengths);
    }
  }

  private static Collection<String> names(Directory folder, String commit) throws IOException {
    try {
      return SegmentInfos.readCommit(folder, commit).files(true);
    } catch (IOException | RuntimeException e) { // whatever damage or an unknown format causes
      List<String> present = new ArrayList<>(List.of(folder.listAll()));
      present.removeIf(name -> !IndexFileNames.CODEC_FILE_PATTERN.matcher(name).matches());
      present.add(commit);
      return present;
    }
  }

  private static Directory open(String index) throws IOException {
    return FSDirectory.open(Paths.get(index), NoLockFactory.INSTANCE);
  }

  private static long lengthOf(Directory folder, String name) throws IOException {
    try {
      return folder.fileLength(name);
    } catch (NoSuchFileException | FileNotFoundException e) {
      return 0;
    }
  }

  /** The files that a search reads: of a compound segment, everything. */
  public IndexFiles searched() {
    return without(
        (name, length) ->
            NOT_SEARCHED.contains(String.valueOf(IndexFileNames.getExtension(name))));
  }

  /** The small ones: the commit, and what describes its segments, fields and other files. */
  IndexFiles small() {
    return without((name, length) -> length > STEP);
  }

  private IndexFiles without(BiPredicate<String, Long> unwanted) {
    SortedMap<String, Long> kept = new TreeMap<>(lengths);
    kept.entrySet().removeIf(file -> unwanted.test(file.getKey(), file.getValue()));
    return new IndexFiles(index, commit, kept);
  }

  public int count() {
    return lengths.size();
  }

  public long bytes() {
    return lengths.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Describes each damaged file; empty when none is.
   *
   * @param checksums whether to read the files and compare their checksums; otherwise only their
   *     first and last bytes are read
   * @param progress told bytes read; may throw to stop
   */
  public List<String> findDamage(boolean checksums, LongConsumer progress) throws IOException {
    List<String> damaged = new ArrayList<>();
    try (Directory folder = open(index)) {
      for (String name : lengths.keySet()) {
        String problem = problem(folder, name, checksums, progress);
        if (problem != null) {
          String segment =
              name.startsWith("_") ? " of segment " + IndexFileNames.parseSegmentName(name) : "";
          damaged.add(name + segment + " " + problem);
        }
      }
    }
    return damaged;
  }

  private String problem(
      Directory folder, String name, boolean checksums, LongConsumer progress) throws IOException {
    try (IndexInput file = folder.openInput(name, IOContext.READONCE)) {
      if (file.length() < Integer.BYTES + CodecUtil.footerLength()) {
        return "is cut short";
      }
      if (CodecUtil.readBEInt(file) != CodecUtil.CODEC_MAGIC) {
        return "does not begin as a file of Lucene's";
      }
      try {
        CodecUtil.retrieveChecksum(file);
      } catch (IOException e) { // its words are about footers
        return "is cut short or has wrong bytes at its end";
      }
      return checksums && !hasItsChecksum(file, progress) ? "does not match its checksum" : null;
    } catch (NoSuchFileException | FileNotFoundException e) {
      return isReplaced(folder) ? null : "is missing";
    }
  }

  /** Whether a writer has made a newer commit, and may have deleted the files of this one. */
  private boolean isReplaced(Directory folder) throws IOException {
    return !commit.equals(SegmentInfos.getLastCommitSegmentsFileName(folder));
  }

  private static boolean hasItsChecksum(IndexInput file, LongConsumer progress)
      throws IOException {
    file.seek(0);
    ChecksumIndexInput summed = new BufferedChecksumIndexInput(file); // closed with the file
    byte[] buffer = new byte[STEP];
    long left = file.length() - CodecUtil.footerLength();
    while (left > 0) {
      int step = (int) Math.min(left, STEP);
      summed.readBytes(buffer, 0, step);
      progress.accept(step);
      left -= step;
    }
    try {
      CodecUtil.checkFooter(summed);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
