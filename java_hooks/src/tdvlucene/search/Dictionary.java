package tdvlucene.search;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.lucene.codecs.perfield.PerFieldPostingsFormat;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.Index;
import tdvlucene.common.Json;
import tdvlucene.common.NpyWriter;

/** Looks up terms in the dictionary of a field. */
public final class Dictionary {
  private Dictionary() {}

  /**
   * A JSON array of {@code [docFreq, totalTermFreq]} for each term, zeros where it is absent.
   *
   * @param terms a JSON array
   */
  public static String of(Index index, String field, String terms) throws IOException {
    return index.read(reader -> {
      List<List<Long>> counts = new ArrayList<>();
      for (String text : Json.parseStrings(terms)) {
        Term term = new Term(field, text);
        counts.add(List.of((long) reader.docFreq(term), reader.totalTermFreq(term)));
      }
      return Json.of(counts);
    });
  }

  /**
   * Writes all terms of two indexes, in Lucene's order, and their frequencies into a folder: the
   * bytes of the terms one after another, where each ends, and {@code docFreq, totalTermFreq} of
   * each in the first and in the second, zeros where it is absent.
   */
  public static void writePairs(Index first, Index second, String field, String folder)
      throws IOException {
    Path to = Paths.get(folder);
    first.read(a -> second.read(b -> {
      try (NpyWriter text = new NpyWriter(to, "terms", "|u1");
          NpyWriter ends = new NpyWriter(to, "ends", "<i8");
          NpyWriter counts = new NpyWriter(to, "counts", "<i8")) {
        FieldPostings before = new FieldPostings(a, field);
        FieldPostings after = new FieldPostings(b, field);
        BytesRef left = before.nextTerm();
        BytesRef right = after.nextTerm();
        while (left != null || right != null) {
          int order = left == null ? 1 : right == null ? -1 : left.compareTo(right);
          BytesRef term = order <= 0 ? left : right;
          text.writeBytes(term.bytes, term.offset, term.length);
          ends.writeLong(text.bytes());
          counts.writeLong(order <= 0 ? before.docFreq() : 0);
          counts.writeLong(order <= 0 ? before.totalTermFreq() : 0);
          counts.writeLong(order >= 0 ? after.docFreq() : 0);
          counts.writeLong(order >= 0 ? after.totalTermFreq() : 0);
          left = order <= 0 ? before.nextTerm() : left;
          right = order >= 0 ? after.nextTerm() : right;
        }
      }
      return null;
    }));
  }

  /** A JSON array of the fields that can be searched. */
  public static String fields(Index index) throws IOException {
    return index.read(reader -> Json.of(Index.withFrequencies(reader)));
  }

  /**
   * The bytes of the files in which a field's terms and postings lie apart from those of others; -1
   * where a segment has them in files that other fields share.
   */
  public static long bytes(Index index, String field) throws IOException {
    return index.read(reader -> {
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
        String ending = ending(info) + ".";
        sum += Index.fileSizes(Index.segmentOf(leaf).getSegmentInfo()).entrySet().stream()
            .filter(file -> file.getKey().contains(ending))
            .mapToLong(Map.Entry::getValue)
            .sum();
      }
      return sum;
    });
  }

  /** What the names of a field's files have after the segment's. */
  private static String ending(FieldInfo info) {
    return "_" + info.getAttribute(PerFieldPostingsFormat.PER_FIELD_FORMAT_KEY)
        + "_" + info.getAttribute(PerFieldPostingsFormat.PER_FIELD_SUFFIX_KEY);
  }
}
