package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.codecs.CompoundDirectory;
import org.apache.lucene.codecs.perfield.PerFieldPostingsFormat;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.store.Directory;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.Lucene;
import tdvlucene.common.Segments;

/** The files in which the terms and postings of one field lie apart from those of all others. */
public final class FieldFiles {
  private FieldFiles() {}

  /** Their bytes; -1 where a segment has the field in files that other fields share. */
  public static long bytes(Index index, String field) throws IOException {
    return Indexes.read(index, reader -> {
      long sum = 0;
      for (LeafReaderContext leaf : reader.leaves()) {
        FieldInfo info = leaf.reader().getFieldInfos().fieldInfo(field);
        if (info == null) {
          continue;
        }
        for (FieldInfo other : leaf.reader().getFieldInfos()) {
          if (other != info && ending(other).equals(ending(info))) {
            return -1L;
          }
        }
        sum += bytes(Segments.segmentOf(leaf).getSegmentInfo(), ending(info));
      }
      return sum;
    });
  }

  /** What the names of a field's files have after the segment's. */
  private static String ending(FieldInfo info) {
    return "_" + info.getAttribute(PerFieldPostingsFormat.PER_FIELD_FORMAT_KEY)
        + "_" + info.getAttribute(PerFieldPostingsFormat.PER_FIELD_SUFFIX_KEY);
  }

  private static long bytes(SegmentCommitInfo segment, String ending) throws IOException {
    if (segment.info.getUseCompoundFile()) {
      try (CompoundDirectory inside = Lucene.openCompound(segment.info.dir, segment.info)) {
        return bytes(inside, List.of(inside.listAll()), ending);
      }
    }
    return bytes(segment.info.dir, new ArrayList<>(segment.files()), ending);
  }

  private static long bytes(Directory folder, List<String> files, String ending)
      throws IOException {
    long sum = 0;
    for (String file : files) {
      sum += file.contains(ending + ".") ? folder.fileLength(file) : 0;
    }
    return sum;
  }
}
