package tdvlucene.rules;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.BytesRefHash;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.UserException;

/**
 * A vocabulary in byte order with each term's TDV, read from NumPy arrays (little endian).
 *
 * <p>The terms stay in memory-mapped files, where a {@link Cursor} reads them in order; only the
 * TDVs are on the heap, four bytes for each term.
 */
public final class TermTable implements Closeable {
  private static final int PREFIX = 10; // of a .npy file: magic string, version, header length

  private final Directory folder;
  private final List<IndexInput> files = new ArrayList<>();
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
    folder = new MMapDirectory(Paths.get(path));
    bytes = array("terms.npy");
    ends = array("terms_indptr.npy");
    tdv = floats("tdv.npy");
    leastSaturation = floats("least_saturation.npy");
    float[] byWeight = floats("weight_boost.npy");
    boost = byWeight == null ? readBoost("first_position_boost.npy") : new TermRule.Boost(byWeight, true);
    saturationBoost = readBoost("saturation_boost.npy");
  }

  private TermRule.Boost readBoost(String name) throws IOException {
    float[] factors = floats(name);
    return factors == null ? TermRule.Boost.NONE : new TermRule.Boost(factors, false);
  }

  /** The array's content, without NumPy's header; good until this is closed. */
  private IndexInput array(String name) throws IOException {
    IndexInput file = folder.openInput(name, IOContext.DEFAULT);
    files.add(file); // a slice does not close what it was cut from
    file.seek(PREFIX - Short.BYTES);
    long header = PREFIX + Short.toUnsignedInt(file.readShort());
    return file.slice(name, header, file.length() - header);
  }

  /** All of a float32 array; null where there is no such file. */
  private float[] floats(String name) throws IOException {
    if (!Arrays.asList(folder.listAll()).contains(name)) {
      return null;
    }
    IndexInput file = array(name);
    float[] values = new float[Math.toIntExact(file.length() / Float.BYTES)];
    file.readFloats(values, 0, values.length);
    return values;
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
    IOUtils.close(files);
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
