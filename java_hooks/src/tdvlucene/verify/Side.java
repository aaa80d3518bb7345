package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiReader;
import org.apache.lucene.index.PointValues;
import org.apache.lucene.index.ReaderUtil;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Index;

/** One side of a comparison: an opened index and the numbers of its live documents. */
final class Side {
  final IndexReader reader;
  final Index index;
  final DocumentNumbers live;

  Side(IndexReader reader, Index index) {
    this.reader = reader;
    this.index = index;
    this.live = new DocumentNumbers(reader);
  }

  /** The segments that have live documents. */
  private List<IndexReader> liveSegments() {
    List<IndexReader> segments = new ArrayList<>();
    for (LeafReaderContext leaf : reader.leaves()) {
      if (leaf.reader().numDocs() > 0) {
        segments.add(leaf.reader());
      }
    }
    return segments;
  }

  /** Live documents of each segment that has any. */
  List<Integer> sizes() {
    return liveSegments().stream().map(IndexReader::numDocs).toList();
  }

  /** Fields of the segments that have live documents: merging leaves the others out. */
  FieldInfos liveFields() throws IOException {
    IndexReader[] readers = liveSegments().toArray(new IndexReader[0]);
    try (MultiReader live = new MultiReader(readers, false)) {
      return FieldInfos.getMergedFieldInfos(live); // closing it gives back what it took only
    }
  }

  LeafReaderContext leafOf(int doc) {
    return reader.leaves().get(ReaderUtil.subIndex(doc, reader.leaves()));
  }

  /** Says of a difference that it is at the live document with a number. */
  Difference at(int number, Difference difference) throws IOException {
    int doc = live.doc(number);
    return difference
        .at("segment", Index.segmentOf(leafOf(doc)).getSegmentName())
        .at("document", new ExternalIds(reader, index).of(doc).utf8ToString());
  }

  /**
   * Compares points by a sum over all (document, value) pairs: two trees with the same points may
   * hold them in different orders. So differences are found, but not where they are.
   */
  static void comparePoints(Side source, Side pruned, String field) throws IOException {
    PointSum expected = new PointSum(source, field);
    PointSum found = new PointSum(pruned, field);
    Difference.require("number of points", expected.count, found.count);
    Difference.require("checksum of points", expected.sum, found.sum);
  }

  private static final class PointSum implements PointValues.IntersectVisitor {
    private final Side side;
    private int base;
    private long count;
    private long sum;

    private PointSum(Side side, String field) throws IOException {
      this.side = side;
      for (LeafReaderContext leaf : side.reader.leaves()) {
        PointValues points = leaf.reader().getPointValues(field);
        base = leaf.docBase;
        if (points != null) {
          points.intersect(this);
        }
      }
    }

    @Override
    public void visit(int doc) {
      throw new IllegalStateException("every cell is said to cross the query");
    }

    @Override
    public void visit(int doc, byte[] value) {
      int number = side.live.of(base + doc);
      if (number >= 0) {
        count++;
        long hash = number * 0x9E3779B97F4A7C15L + Arrays.hashCode(value);
        hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
        sum += hash ^ hash >>> 33;
      }
    }

    @Override
    public PointValues.Relation compare(byte[] least, byte[] most) {
      return PointValues.Relation.CELL_CROSSES_QUERY;
    }
  }
}
