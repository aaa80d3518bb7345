package tdvlucene.rules;

import java.io.Closeable;
import java.io.IOException;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.BytesRefHash;
import tdvlucene.common.NpyFolder;
import tdvlucene.common.UserException;

/**
 * A vocabulary in byte order with each term's TDV, read from NumPy arrays.
 *
 * <p>The terms stay in memory-mapped files, where a {@link Cursor} reads them in order; only the
 * TDVs are on the heap, four bytes for each term.
 */
public final class TermTable implements Closeable {
  private final NpyFolder folder;
  private final IndexInput bytes;
  private final IndexInput ends;
  private final float[] tdv;

  /** The least saturation of a term's posting that stays; null where saturation decides nothing. */
  final float[] leastSaturation;

  final TermRule.Boost boost;

  /** The boost of the frequencies whose saturation is compared. */
  final TermRule.Boost saturationBoost;

  private BytesRefHash terms;

  /**
   * @param path a folder with terms.npy (uint8), terms_indptr.npy (int64), tdv.npy (float32) and,
   *     where saturation decides, least_saturation.npy (float32); for boosts, by position or
   *     weight, first_position_boost.npy, saturation_boost.npy or weight_boost.npy (float32)
   */
  public TermTable(String path) throws IOException {
    folder = new NpyFolder(path);
    bytes = folder.array("terms.npy");
    ends = folder.array("terms_indptr.npy");
    tdv = folder.floats("tdv.npy");
    leastSaturation = folder.floats("least_saturation.npy");
    float[] byWeight = folder.floats("weight_boost.npy");
    boost = byWeight == null ? readBoost("first_position_boost.npy") : new TermRule.Boost(byWeight, true);
    saturationBoost = readBoost("saturation_boost.npy");
  }

  private TermRule.Boost readBoost(String name) throws IOException {
    float[] factors = folder.floats(name);
    return factors == null ? TermRule.Boost.NONE : new TermRule.Boost(factors, false);
  }

  /** Terms. */
  public int size() {
    return tdv.length;
  }

  /**
   * The terms on the heap under their numbers, to be found in any order, which term vectors need.
   * Made when first asked for; then read-only, so threads can share it.
   */
  public synchronized BytesRefHash terms() throws IOException {
    terms = terms == null ? load() : terms;
    return terms;
  }

  private BytesRefHash load() throws IOException {
    BytesRefHash loaded = new BytesRefHash();
    Cursor cursor = cursor();
    try {
      for (int term = 0; cursor.seek(term); term++) {
        loaded.add(cursor.term());
      }
    } catch (ArithmeticException e) { // of what numbers the bytes, which is an int
      throw new UserException(
          "the terms take " + bytes.length() + " bytes, more than Lucene holds in memory, which "
              + "rewriting term vectors needs: index the collection without -storeDocvectors", e);
    }
    return loaded;
  }

  float tdv(int term) {
    return tdv[term];
  }

  /** A cursor of one's own, before the first term. */
  public Cursor cursor() {
    return new Cursor(bytes.clone(), ends.clone());
  }

  @Override
  public void close() throws IOException {
    folder.close();
  }

  /** Meets the terms in order. */
  public final class Cursor {
    private final IndexInput bytes;
    private final IndexInput ends;
    private final BytesRef term = new BytesRef();
    private int number = -1;

    private Cursor(IndexInput bytes, IndexInput ends) {
      this.bytes = bytes;
      this.ends = ends;
    }

    /** Number of the current term; {@link #size} past the last. */
    public int number() {
      return number;
    }

    /** The current term; reused by the next move. */
    public BytesRef term() {
      return term;
    }

    /** Moves to the term numbered {@code to}; false when there is none. */
    public boolean seek(int to) throws IOException {
      number = to;
      if (to >= size()) {
        number = size();
        return false;
      }
      ends.seek((long) to * Long.BYTES);
      long start = ends.readLong();
      bytes.seek(start);
      term.length = Math.toIntExact(ends.readLong() - start);
      if (term.bytes.length < term.length) {
        term.bytes = new byte[Math.max(term.length, 2 * term.bytes.length)];
      }
      bytes.readBytes(term.bytes, 0, term.length);
      return true;
    }

    /**
     * Moves on to the first term not below {@code target}; true when it is that very term.
     *
     * <p>In steps that grow, and then by halving: a small segment has few of the terms.
     */
    public boolean advance(BytesRef target) throws IOException {
      int low = number; // the last term known to be below
      int step = 1;
      while (number < size() && (number < 0 || term.compareTo(target) < 0)) {
        low = number;
        seek(Math.min(number + step, size()));
        step <<= 1;
      }
      int high = number;
      while (high - low > 1) {
        int middle = (low + high) >>> 1;
        seek(middle);
        if (term.compareTo(target) < 0) {
          low = middle;
        } else {
          high = middle;
        }
      }
      if (number != high) {
        seek(high);
      }
      return number < size() && term.equals(target);
    }
  }
}
