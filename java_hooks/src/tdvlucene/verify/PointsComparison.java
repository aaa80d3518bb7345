package tdvlucene.verify;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.PointValues;

/**
 * Compares a field's points by a sum over all (document, value) pairs.
 *
 * <p>Two trees with the same points may hold them in different orders. So differences are found,
 * but not where they are.
 */
final class PointsComparison {
  private PointsComparison() {}

  static void compare(ComparedIndex source, ComparedIndex pruned, String field)
      throws IOException {
    Sum expected = new Sum(source);
    Sum found = new Sum(pruned);
    expected.addAll(field);
    found.addAll(field);
    try {
      Difference.require("number of points", expected.count, found.count);
      Difference.require("checksum of points", expected.sum, found.sum);
    } catch (Difference e) {
      throw e.at("field", field);
    }
  }

  private static final class Sum implements PointValues.IntersectVisitor {
    private final ComparedIndex index;
    private int base;
    private long count;
    private long sum;

    private Sum(ComparedIndex index) {
      this.index = index;
    }

    private void addAll(String field) throws IOException {
      for (LeafReaderContext leaf : index.reader.leaves()) {
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
      int number = index.live.of(base + doc);
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
