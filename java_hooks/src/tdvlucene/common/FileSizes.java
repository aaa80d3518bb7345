package tdvlucene.common;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.codecs.CompoundDirectory;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.store.Directory;

/** The sizes of a commit's files. */
public final class FileSizes {
  private static final String COMPOUND_DATA = "cfs";

  private FileSizes() {}

  /**
   * Bytes by file extension ("" for segments_N).
   *
   * <p>Files inside a compound file count under their own extension; what remains of the compound
   * file (padding, headers) under its own. The sum is that of the commit's files on disk.
   */
  public static Map<String, Long> byExtension(IndexReader reader) throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    for (DirectoryReader shard : Indexes.shardsOf(reader)) {
      SegmentInfos commit = Segments.commitOf(shard);
      for (String file : commit.files(true)) {
        add(sizes, file, shard.directory().fileLength(file));
      }
      for (SegmentCommitInfo segment : commit) {
        if (segment.info.getUseCompoundFile()) {
          unpack(sizes, shard.directory(), segment);
        }
      }
    }
    return sizes;
  }

  /** The bytes of a commit's files on disk. */
  public static long sum(IndexReader reader) throws IOException {
    long sum = 0;
    for (long size : byExtension(reader).values()) {
      sum += size;
    }
    return sum;
  }

  private static void unpack(Map<String, Long> sizes, Directory folder, SegmentCommitInfo segment)
      throws IOException {
    try (CompoundDirectory compound = Lucene.openCompound(folder, segment.info)) {
      for (String file : compound.listAll()) {
        long length = compound.fileLength(file);
        add(sizes, file, length);
        sizes.merge(COMPOUND_DATA, -length, Long::sum);
      }
    }
  }

  private static void add(Map<String, Long> sizes, String file, long length) {
    String extension = IndexFileNames.getExtension(file);
    sizes.merge(extension == null ? "" : extension, length, Long::sum);
  }
}
