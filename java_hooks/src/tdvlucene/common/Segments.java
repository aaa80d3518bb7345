package tdvlucene.common;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.codecs.CompoundDirectory;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.index.SoftDeletesDirectoryReaderWrapper;
import org.apache.lucene.index.StandardDirectoryReader;
import org.apache.lucene.store.Directory;

/** Hides soft-deleted documents, and finds what lies behind readers that do. */
public final class Segments {
  private Segments() {}

  /**
   * The same without soft-deleted documents, which Lucene hides only from those who ask for it: to
   * all that reads an index here they are deleted. Closing it closes {@code reader}; on failure too.
   */
  static DirectoryReader hideSoftDeleted(DirectoryReader reader) throws IOException {
    try {
      for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
        if (info.isSoftDeletesField()) {
          return new SoftDeletesDirectoryReaderWrapper(reader, info.name);
        }
      }
      return reader;
    } catch (Throwable t) {
      reader.close();
      throw t;
    }
  }

  /** Documents that are hidden because they are soft-deleted, and not deleted otherwise. */
  public static int countSoftDeleted(IndexReader reader) {
    int count = 0;
    for (SegmentCommitInfo segment : of(reader)) {
      count += segment.getSoftDelCount();
    }
    return count;
  }

  /** All that are deleted, those that are only soft-deleted too: nobody finds them either. */
  public static int countDeleted(IndexReader reader) {
    int count = countSoftDeleted(reader);
    for (SegmentCommitInfo segment : of(reader)) {
      count += segment.getDelCount();
    }
    return count;
  }

  /** The segments of an opened index, as the commit of each shard has them. */
  public static List<SegmentCommitInfo> of(IndexReader reader) {
    List<SegmentCommitInfo> segments = new ArrayList<>();
    for (DirectoryReader shard : Indexes.shardsOf(reader)) {
      commitOf(shard).forEach(segments::add);
    }
    return segments;
  }

  /** The commit of an opened folder. */
  public static SegmentInfos commitOf(IndexReader folder) {
    DirectoryReader opened = FilterDirectoryReader.unwrap((DirectoryReader) folder);
    return ((StandardDirectoryReader) opened).getSegmentInfos();
  }

  /** The segment that a leaf reads. */
  public static SegmentReader segmentOf(LeafReaderContext leaf) {
    return (SegmentReader) FilterCodecReader.unwrap((CodecReader) leaf.reader());
  }

  /**
   * Bytes by file extension ("" for segments_N).
   *
   * <p>Files inside a compound file count under their own extension; what remains of the compound
   * file (padding, headers) under its own. The sum is that of the commit's files on disk.
   */
  public static Map<String, Long> fileSizes(IndexReader reader) throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    for (DirectoryReader shard : Indexes.shardsOf(reader)) {
      SegmentInfos commit = commitOf(shard);
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
  public static long bytes(IndexReader reader) throws IOException {
    long sum = 0;
    for (long size : fileSizes(reader).values()) {
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
        sizes.merge("cfs", -length, Long::sum);
      }
    }
  }

  private static void add(Map<String, Long> sizes, String file, long length) {
    String extension = IndexFileNames.getExtension(file);
    sizes.merge(extension == null ? "" : extension, length, Long::sum);
  }
}
