package tdvlucene.common;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.lucene.util.SmallFloat;

/**
 * Norms that hold BM25's k1 and b, for a searcher that uses others.
 *
 * <p>BM25 sees a document only through its length norm K = k1 (1 - b + b length / average). A
 * searcher with k1' and b' computes K' from the length it reads. So the length written is the one
 * of which it computes K:
 *
 * <pre>length' = average (K / k1' - (1 - b')) / b'</pre>
 *
 * <p>The average is the searcher's own, the field's tokens by its documents with terms ({@code
 * BM25Similarity.avgFieldLength}). A norm holds the nearest length that it can, where {@link
 * SmallFloat#intToByte4} would round down. No length is below 1, so K cannot be below {@code k1' (1
 * - b' + b' / average)}: then the nearest is written.
 *
 * @param kind of the norms: {@link NormKind#DEFAULT} or {@link NormKind#ACCURATE}
 * @param held the parameters to rank as with
 * @param searched the parameters of the searcher; b' is above 0
 * @param average tokens of a document that has any
 */
public record BakedNorms(NormKind kind, Parameters held, Parameters searched, double average) {
  /** The name by which an index records the kind of a field's norms, if they were written so. */
  public static final String RECORD = "baked.norms";

  /** The lengths that bytes stand for, from 0 up. */
  private static final int[] OF_BYTE =
      IntStream.range(0, 256).map(code -> SmallFloat.byte4ToInt((byte) code)).toArray();

  /** BM25's. */
  public record Parameters(double k1, double b) {
    private double lengthNorm(double length, double average) {
      return k1 * (1 - b + b * length / average);
    }
  }

  /** K of a document with {@code length} tokens. */
  public double wanted(int length) {
    return held.lengthNorm(length, average);
  }

  /** K as the searcher computes it from a norm. */
  public double seen(long norm) {
    return searched.lengthNorm(kind.decode(norm), average);
  }

  /** The norm for a document with {@code length} tokens; 0 for none, as Lucene demands. */
  public long encode(int length) {
    if (length == 0) {
      return 0;
    }
    double exact = average * (wanted(length) / searched.k1 - (1 - searched.b)) / searched.b;
    if (kind == NormKind.ACCURATE) {
      return (long) Math.max(1, Math.min(Math.rint(exact), Integer.MAX_VALUE));
    }
    int code = Arrays.binarySearch(OF_BYTE, (int) Math.min(exact, Integer.MAX_VALUE));
    int below = Math.max(1, code < 0 ? -code - 2 : code);
    boolean last = below + 1 == OF_BYTE.length;
    return (byte) (last || exact - OF_BYTE[below] <= OF_BYTE[below + 1] - exact ? below : below + 1);
  }

  /** Whether no norm comes near K: it is below that of length 1, or above that of the longest. */
  public boolean isBeyond(int length) {
    double wanted = wanted(length);
    return wanted < seen(1) || wanted > seen(kind == NormKind.ACCURATE ? Integer.MAX_VALUE : 255);
  }

  /** By how much of K the searcher's is off. */
  public double off(int length) {
    return Math.abs(seen(encode(length)) / wanted(length) - 1);
  }
}
