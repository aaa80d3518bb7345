package tdvlucene.prune;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.IOUtils;

/**
 * A vocabulary in byte order with each term's TDV, read from NumPy arrays.
 *
 * <p>The terms stay in memory-mapped files, where a {@link Cursor} reads them in order; only the
 * TDVs are on the heap, four bytes for each term.
 */
public final class TermTable implements Closeable {
  private static final String LEAST_SATURATION = "least_saturation.npy";
  private static final String BOOST = "first_position_boost.npy";
  private static final int NPY_PREFIX = 10; // magic string, version, header length

  private final Directory folder;
  private final List<IndexInput> files = new ArrayList<>();
  private final IndexInput bytes;
  private final IndexInput ends;
  private final float[] tdv;
  private final float[] leastSaturation;
  private final FirstPositionBoost boost;
  private TermTexts texts;
  private TermLookup lookup;

  /**
   * @param path a folder with terms.npy (uint8), terms_indptr.npy (int64), tdv.npy (float32) and,
   *     for a {@link SaturationRule}, least_saturation.npy (float32); with a first-position
   *     boost, first_position_boost.npy (float32, by position)
   */
  public TermTable(String path) throws IOException {
    Path root = Paths.get(path);
    folder = new MMapDirectory(root);
    bytes = array("terms.npy");
    ends = array("terms_indptr.npy");
    tdv = floats("tdv.npy");
    List<String> names = Arrays.asList(folder.listAll());
    leastSaturation = names.contains(LEAST_SATURATION) ? floats(LEAST_SATURATION) : null;
    boost =
        names.contains(BOOST) ? new FirstPositionBoost(floats(BOOST)) : FirstPositionBoost.NONE;
  }

  private float[] floats(String name) throws IOException {
    IndexInput file = array(name);
    float[] values = new float[Math.toIntExact(file.length() / Float.BYTES)];
    file.readFloats(values, 0, values.length);
    return values;
  }

  /** The array's content, without NumPy's header. */
  private IndexInput array(String name) throws IOException {
    IndexInput file = folder.openInput(name, IOContext.DEFAULT);
    files.add(file); // a slice does not close what it was cut from
    file.seek(NPY_PREFIX - Short.BYTES);
    long header = NPY_PREFIX + Short.toUnsignedInt(file.readShort());
    return file.slice(name, header, file.length() - header);
  }

  /** Terms. */
  public int size() {
    return tdv.length;
  }

  /** Bytes of all terms together. */
  long termBytes() {
    return bytes.length();
  }

  /** The terms on the heap, made when first asked for. */
  synchronized TermTexts texts() throws IOException {
    texts = texts == null ? new TermTexts(this) : texts;
    return texts;
  }

  /** Finds a term's number; made when first asked for. */
  synchronized TermLookup lookup() throws IOException {
    lookup = lookup == null ? new TermLookup(this) : lookup;
    return lookup;
  }

  /** A term's number, -1 when the vocabulary lacks it. */
  public int find(BytesRef term) throws IOException {
    return lookup().find(term);
  }

  public float[] tdv() {
    return tdv;
  }

  /** Each term's least saturation of a posting that stays; null when the table has none. */
  float[] leastSaturation() {
    return leastSaturation;
  }

  /** The first-position boost; {@link FirstPositionBoost#NONE} when the table has none. */
  FirstPositionBoost boost() {
    return boost;
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
      read(Math.toIntExact(ends.readLong() - start));
      return true;
    }

    /** Moves before the first term not below {@code target}, from anywhere. */
    public void seekBefore(BytesRef target) throws IOException {
      int low = 0;
      int high = size();
      while (low < high) {
        int middle = (low + high) >>> 1;
        seek(middle);
        if (term.compareTo(target) < 0) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      number = low - 1;
      term.length = 0; // below every term
    }

    /** Moves on to the first term not below {@code target}; true when it is that very term. */
    public boolean advance(BytesRef target) throws IOException {
      int order = -1;
      while (number < size() && (number < 0 || (order = term.compareTo(target)) < 0)) {
        seek(number + 1);
      }
      return number < size() && order == 0;
    }

    private void read(int length) throws IOException {
      if (term.bytes.length < length) {
        term.bytes = new byte[Math.max(length, 2 * term.bytes.length)];
      }
      bytes.readBytes(term.bytes, 0, length);
      term.length = length;
    }
  }
}
