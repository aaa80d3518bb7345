package tdvlucene.index;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexFormatTooNewException;
import org.apache.lucene.index.IndexFormatTooOldException;
import org.apache.lucene.index.IndexNotFoundException;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.Version;
import tdvlucene.common.UserException;

/** Opening indexes and choosing fields, with errors in the user's words. */
public final class Indexes {
  private Indexes() {}

  /** Opens the last commit of an index. */
  public static DirectoryReader open(String index) throws IOException {
    Path path = Paths.get(index);
    if (!Files.isDirectory(path)) {
      throw new UserException("no such index: " + index + " is not a folder");
    }
    Directory directory = FSDirectory.open(path);
    try {
      return DirectoryReader.open(directory);
    } catch (IOException | IllegalArgumentException e) {
      directory.close();
      throw explain(index, e);
    }
  }

  private static UserException explain(String index, Exception e) {
    String lucene = "Lucene " + Version.LATEST;
    if (e instanceof IndexNotFoundException) {
      return new UserException(
          "not a Lucene index: " + index + " holds no commit (no segments_N file)", e);
    }
    if (e instanceof IndexFormatTooNewException) {
      return new UserException(
          index + " was written by a newer Lucene than the installed " + lucene
              + " reads: install the Pyserini that made it (2.x for Lucene 10)", e);
    }
    if (e instanceof IndexFormatTooOldException) {
      return new UserException(
          index + " was written by a Lucene too old for the installed " + lucene
              + ": index the collection again", e);
    }
    if (e instanceof CorruptIndexException) {
      return new UserException(index + " is damaged: " + e.getMessage(), e);
    }
    return new UserException(
        index + " cannot be read by " + lucene + ": " + e.getMessage(), e);
  }

  /** The field's description; refuses unknown fields and fields without frequencies. */
  public static FieldInfo requireFrequencies(DirectoryReader reader, String index, String field) {
    FieldInfos infos = FieldInfos.getMergedFieldInfos(reader);
    List<String> usable = new ArrayList<>();
    for (FieldInfo info : infos) {
      if (hasFrequencies(info)) {
        usable.add(info.name);
      }
    }
    String legal = " (fields with frequencies: "
        + (usable.isEmpty() ? "none" : String.join(", ", usable)) + ")";
    FieldInfo info = infos.fieldInfo(field);
    if (info == null) {
      throw new UserException("no field '" + field + "' in " + index + legal);
    }
    if (!hasFrequencies(info)) {
      throw new UserException(
          "field '" + field + "' of " + index + " has index options " + info.getIndexOptions()
              + ", which hold no term frequencies" + legal);
    }
    return info;
  }

  static boolean hasFrequencies(FieldInfo info) {
    return info.getIndexOptions().compareTo(IndexOptions.DOCS_AND_FREQS) >= 0;
  }
}
