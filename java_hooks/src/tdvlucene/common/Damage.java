package tdvlucene.common;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

/**
 * Recognises damaged indexes.
 *
 * <p>Lucene does not compare checksums when it reads terms or postings. A wrong byte there shows
 * as whatever the decoder trips over next, such as an index out of bounds, or as wrong numbers. So
 * when reading fails and the user is not to blame, the files are checked; if one is damaged, that
 * is what the user is told.
 */
public final class Damage {
  private static final int SHOWN = 3;

  private Damage() {}

  /**
   * Refuses an index, or shards, with damage in the files that a search reads. Compares checksums
   * where all files together are cheap to read, else only how they begin and end.
   *
   * @param total told the bytes of all of them first
   * @param progress told bytes read; may throw to stop
   */
  public static void refuseSearched(Index index, LongConsumer total, LongConsumer progress)
      throws IOException {
    List<IndexFiles> shards = new ArrayList<>();
    long bytes = 0;
    for (String folder : index.folders()) {
      IndexFiles files = IndexFiles.of(folder).searched();
      shards.add(files);
      bytes += files.bytes();
    }
    total.accept(bytes);
    for (IndexFiles files : shards) {
      refuse(files, bytes <= IndexFiles.CHEAP_BYTES, progress);
    }
  }

  /** As above, of these files; {@code checksums} says whether to compare them. */
  public static void refuse(IndexFiles files, boolean checksums, LongConsumer progress)
      throws IOException {
    List<String> damaged = files.findDamage(checksums, progress);
    if (!damaged.isEmpty()) {
      throw describe(files.index, damaged, null);
    }
  }

  /**
   * The damage behind a failure, found by comparing the checksums of all files; null when there is
   * none.
   *
   * @param small looks at small files alone: the index may be of another Lucene
   */
  static UserException behind(
      Throwable thrown, String index, boolean small, LongConsumer progress) {
    try {
      IndexFiles files = IndexFiles.of(index);
      List<String> damaged = (small ? files.small() : files).findDamage(true, progress);
      return damaged.isEmpty() ? null : describe(index, damaged, thrown);
    } catch (IOException e) { // no folder, or one we may not read: then that is what was thrown
      return null;
    }
  }

  private static UserException describe(String index, List<String> damaged, Throwable thrown) {
    String files = damaged.stream().limit(SHOWN).collect(Collectors.joining("; "));
    if (damaged.size() > SHOWN) {
      files += "; and " + (damaged.size() - SHOWN) + " more";
    }
    String where = LocatedException.placeOf(thrown);
    return new UserException(
        index + " is damaged: " + files + (where.isEmpty() ? "" : " (met in " + where + ")")
            + ". Restore the index from a copy, or make it again", thrown);
  }
}
