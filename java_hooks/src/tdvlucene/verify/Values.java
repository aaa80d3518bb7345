package tdvlucene.verify;

import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PointValues;
import tdvlucene.common.BakedNorms;
import tdvlucene.rules.PlannedField;

/**
 * Compares a field's norms and points.
 *
 * @param of the field of the source that it was made of
 */
record Values(Side source, Side pruned, String of, String field) {
  /**
   * Compares the norms of all documents with the source's, or with those of the new lengths.
   *
   * @param lengths new tokens of each live document; null where norms are to stay
   */
  void compareNorms(PlannedField target, int[] lengths) throws IOException {
    BakedNorms baked =
        target != null && target.isBaked() ? target.bakeFor(target.average) : null;
    NumericDocValues old = MultiDocValues.getNormValues(source.reader, of);
    NumericDocValues found = MultiDocValues.getNormValues(pruned.reader, field);
    for (int number = 0; number < source.live.size(); number++) {
      Long expected = norm(old, source.live.doc(number));
      Long present = norm(found, pruned.live.doc(number));
      boolean isNew = expected != null && present != null && lengths != null;
      boolean isRight;
      if (isNew && baked != null) {
        isRight = baked.isNearest(present, lengths[number]);
      } else {
        expected = isNew ? Long.valueOf(target.norm(lengths[number])) : expected;
        isRight = Objects.equals(expected, present);
      }
      if (!isRight) {
        String wanted = Objects.toString(expected, "none");
        if (isNew && baked != null) {
          wanted = lengths[number] == 0
              ? "0"
              : "one for K = " + baked.wanted(lengths[number]) + ", not " + baked.seen(present);
        }
        throw pruned.at(
            number, new Difference("norm", wanted, Objects.toString(present, "none")));
      }
    }
  }

  private static Long norm(NumericDocValues norms, int doc) throws IOException {
    return norms != null && norms.advanceExact(doc) ? norms.longValue() : null;
  }

  /**
   * Compares points by a sum over all (document, value) pairs: two trees with the same points may
   * hold them in different orders. So differences are found, but not where they are.
   */
  void comparePoints() throws IOException {
    Sum expected = new Sum(source, field);
    Sum found = new Sum(pruned, field);
    Difference.require("number of points", expected.count, found.count);
    Difference.require("checksum of points", expected.sum, found.sum);
  }

  private static final class Sum implements PointValues.IntersectVisitor {
    private final Side side;
    private int base;
    private long count;
    private long sum;

    private Sum(Side side, String field) throws IOException {
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
