package tdvlucene.common;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.IndexFormatTooNewException;
import org.apache.lucene.index.IndexFormatTooOldException;
import org.apache.lucene.index.IndexNotFoundException;
import org.apache.lucene.util.Version;

/**
 * Says what is behind a failure: an error of the user's, a damaged index, one that this Lucene cannot
 * read, a full disk, or a defect of ours.
 *
 * <p>Lucene does not compare checksums when it reads terms or postings. A wrong byte there shows
 * as whatever the decoder trips over next, such as an index out of bounds, or as wrong numbers. So
 * when reading fails and the user is not to blame, the files are checked; if one is damaged, that
 * is what the user is told.
 */
public final class Failures {
  /** Folders below which an index is looked for: Elasticsearch's lie at indices/ID/0/index. */
  private static final int DEEPEST = 6;

  /** The operating system's words for ENOSPC, EDQUOT and EFBIG: Java has no class for them. */
  private static final List<String> DISK_FULL =
      List.of("No space left on device", "Disk quota exceeded", "File too large");

  /** Lucene knows what made an index, and says so only in the text of a reason. */
  private static final Pattern MADE_BY = Pattern.compile("Lucene (?:version )?(\\d+)\\.x");
  private static final Pattern OTHER_FORMAT =
      Pattern.compile("An SPI class of type \\S+ with name '([^']*)' does not exist");

  private static final int SHOWN = 3;

  private Failures() {}

  /**
   * Refuses an index, or shards, with damage in the files that a search reads. Compares checksums
   * where all files together are cheap to read, else only how they begin and end.
   *
   * @param total told the bytes of all of them first
   * @param progress told bytes read; may throw to stop
   */
  public static void refuseDamageSearched(Index index, LongConsumer total, LongConsumer progress)
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
      refuseDamage(files, bytes <= IndexFiles.CHEAP_BYTES, progress);
    }
  }

  /** As above, of these files; {@code checksums} says whether to compare them. */
  public static void refuseDamage(IndexFiles files, boolean checksums, LongConsumer progress)
      throws IOException {
    List<String> damaged = files.findDamage(checksums, progress);
    if (damaged.isEmpty()) {
      return;
    }
    String shown = damaged.stream().limit(SHOWN).collect(Collectors.joining("; "));
    if (damaged.size() > SHOWN) {
      shown += "; and " + (damaged.size() - SHOWN) + " more";
    }
    throw new UserException(
        files.index + " is damaged: " + shown + ". Restore the index from a copy, or make it again");
  }

  /** Damage that the checksums of an index's files show, all or the small ones; null for none. */
  private static UserException damageOf(String index, boolean small, LongConsumer progress) {
    try {
      IndexFiles files = IndexFiles.of(index);
      refuseDamage(small ? files.small() : files, true, progress);
      return null;
    } catch (UserException damage) {
      return damage;
    } catch (IOException e) { // no folder, or one we may not read: another error says so
      return null;
    }
  }

  /**
   * Finds the cause of a failure: an error of the user's as it is; else the damage behind it, if any;
   * else what was thrown.
   *
   * @param indexes those that were read
   * @param progress told bytes read in search of damage; may throw to stop
   */
  static Throwable explain(Throwable thrown, Collection<Index> indexes, LongConsumer progress) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof UserException known && !known.doubtful || isDiskFull(t)) {
        return thrown; // damage cannot cause it
      }
    }
    for (Index index : indexes) {
      for (String shard : index.folders()) {
        UserException damage = damageOf(shard, false, progress);
        if (damage != null) {
          return damage;
        }
      }
    }
    return thrown;
  }

  /** "user" for an error of the user's, "disk" (is full) or "defect". */
  static String kind(Throwable thrown) {
    Throwable known = known(thrown);
    return known == null ? "defect" : isDiskFull(known) ? "disk" : "user";
  }

  /** A message for the user's errors, a stack for ours. */
  static String describe(Throwable thrown) {
    Throwable known = known(thrown);
    if (known == null) {
      StringWriter text = new StringWriter();
      thrown.printStackTrace(new PrintWriter(text, true));
      return text.toString();
    }
    return known instanceof CorruptIndexException // with a checksum that holds, or it were known
        ? "the index is damaged: " + thrown.getMessage()
            + ". Restore it from a copy, or make it again"
        : known.getMessage();
  }

  /** The first of what was thrown, and of what Lucene wrapped in it, that is no defect. */
  private static Throwable known(Throwable thrown) {
    Throwable t = thrown;
    while (t != null
        && !(t instanceof UserException || t instanceof CorruptIndexException || isDiskFull(t))) {
      t = t.getCause();
    }
    return t;
  }

  private static boolean isDiskFull(Throwable thrown) {
    return thrown instanceof IOException
        && thrown.getMessage() != null
        && DISK_FULL.stream().anyMatch(thrown.getMessage()::contains);
  }

  /** What a folder without a commit is instead, if it can be told. */
  private static String whatElse(Path folder) {
    if (Files.exists(folder.resolve("docid")) && Files.exists(folder.resolve("index"))) {
      return ": it is a Faiss index, of dense vectors, which have no postings";
    }
    try (Stream<Path> files = Files.find(folder, DEEPEST, (path, facts) ->
        path.getFileName().toString().startsWith("segments_"))) {
      List<Path> found = files.map(Path::getParent).limit(2).toList();
      String also = found.size() > 1 ? ", and more (several are shards)" : "";
      return found.isEmpty()
          ? "; 'tdv-lucene index' makes one of documents"
          : ": name the folder of its index, " + found.get(0) + also;
    } catch (IOException | UncheckedIOException e) {
      return "";
    }
  }

  /** Explains why an index cannot be opened, and what to do. */
  static UserException unreadable(String index, Exception e) {
    String lucene = "Lucene " + Version.LATEST;
    boolean tooNew = e instanceof IndexFormatTooNewException || isFromTheFuture(e);
    boolean otherFormat =
        e instanceof IndexFormatTooOldException || tooNew || e instanceof IllegalArgumentException;
    UserException damage = damageOf(index, otherFormat, read -> {});
    if (damage != null) {
      return damage;
    }
    String why;
    if (e instanceof IndexNotFoundException) {
      why = "not a Lucene index: " + index + " holds no commit (no segments_N file)"
          + whatElse(Paths.get(index));
    } else if (tooNew) {
      why = index + " was written by a newer Lucene than the installed " + lucene
          + " reads: install the Pyserini that made it (2.x for Lucene 10)";
    } else if (e instanceof IndexFormatTooOldException old) {
      why = index + tooOld(lucene, old) + "index the collection again";
    } else if (e instanceof CorruptIndexException) { // with a checksum that holds
      why = index + " is damaged: " + e.getMessage();
    } else {
      Matcher part = OTHER_FORMAT.matcher(String.valueOf(e.getMessage()));
      why = index + " cannot be read by " + lucene + ": "
          + (part.find()
              ? "the program that wrote it has a format of its own, '" + part.group(1)
                  + "' (as Elasticsearch and OpenSearch have): let that program write it with "
                  + "Lucene's, or index the collection again"
              : e.getMessage());
    }
    return new UserException(why, e);
  }

  /** Lucene reads what its own major version made first, and the one before. */
  private static String tooOld(String lucene, IndexFormatTooOldException e) {
    Matcher made = MADE_BY.matcher(String.valueOf(e.getReason()));
    String maker = made.find() ? "Lucene " + made.group(1) : "an older Lucene";
    String instead =
        maker.equals("Lucene 8")
            ? "install Pyserini 1.6, whose Lucene 9 does, for this index and what is pruned from "
                + "it, or "
            : "";
    return " was first made by " + maker + ", which the installed " + lucene + " does not read: "
        + instead;
  }

  /** Lucene meets the version that made an index, or its codec, before it checks its format. */
  private static boolean isFromTheFuture(Exception e) {
    String message = String.valueOf(e.getMessage());
    return e instanceof IllegalArgumentException
        && (message.contains("is in the future")
            || message.startsWith("Could not load codec 'Lucene"));
  }
}
