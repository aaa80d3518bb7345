package tdvlucene.prune;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.lucene.util.BytesRef;

/**
 * Maps each of a set of terms to a number without storing the terms, in 1.23 times the number's
 * bits.
 *
 * <p>This is the static function of Graf and Lemire's "Xor Filters" (2020): a term is hashed to
 * one slot in each third of a table, and the xor of its three slots is its number. The table is
 * solved for the terms it is made of and <em>knows no others</em>: any other term gets an
 * arbitrary number.
 *
 * <p>Memory: the table's bytes; about 40 bytes for each term while it is made.
 */
final class XorTable {
  private static final int PARTS = 3;
  private static final double SLOTS_PER_TERM = 1.23; // below, peeling rarely succeeds
  private static final int SPARE = 32; // slots more, for small tables
  private static final int PADDING = 5; // a slot is read as so many bytes
  private static final int ATTEMPTS = 100;

  private final long seed;
  private final int part;
  private final int bits;
  private final byte[] packed;

  private XorTable(long seed, int part, int bits, byte[] packed) {
    this.seed = seed;
    this.part = part;
    this.bits = bits;
    this.packed = packed;
  }

  /** The number of a term that the table was made of. */
  int get(BytesRef term) {
    long hash = hash(term, seed);
    return read(slot(hash, 0)) ^ read(slot(hash, 1)) ^ read(slot(hash, 2));
  }

  /** The terms of a vocabulary, to be met in order as often as needed. */
  interface Terms {
    /** Tells each term and its number, from 0 up to the largest that {@code bits} hold. */
    void forEach(Visitor visitor) throws IOException;
  }

  /** Is told terms. */
  interface Visitor {
    void visit(BytesRef term, int number);
  }

  /** Solves a table for {@code count} distinct terms. */
  static XorTable of(Terms terms, int count, int bits) throws IOException {
    int part = (int) (count * SLOTS_PER_TERM / PARTS) + SPARE;
    for (int seed = 1; seed <= ATTEMPTS; seed++) {
      long[] hashes = new long[count];
      int[] numbers = new int[count];
      int[] next = {0};
      long mixed = mix(seed);
      terms.forEach(
          (term, number) -> {
            hashes[next[0]] = hash(term, mixed);
            numbers[next[0]++] = number;
          });
      byte[] packed = new byte[Math.toIntExact(((long) part * PARTS * bits + 7) / 8) + PADDING];
      XorTable table = new XorTable(mixed, part, bits, packed);
      if (table.solve(hashes, numbers)) {
        return table;
      }
    }
    throw new IllegalStateException("no hash tells " + count + " terms apart");
  }

  /**
   * Peels: a slot that only one term still hashes to is left for that term's number to decide,
   * whatever the others turn out to be; so numbers are written in the reverse order of peeling.
   */
  private boolean solve(long[] hashes, int[] numbers) {
    int[] load = new int[part * PARTS];
    int[] termsXored = new int[part * PARTS]; // the one term, where load is 1
    for (int term = 0; term < hashes.length; term++) {
      add(hashes[term], term, 1, load, termsXored);
    }
    int[] single = new int[part * PARTS];
    int singles = 0;
    for (int slot = 0; slot < load.length; slot++) {
      if (load[slot] == 1) {
        single[singles++] = slot;
      }
    }
    int[] order = new int[hashes.length];
    int[] decides = new int[hashes.length];
    int peeled = 0;
    while (singles > 0) {
      int slot = single[--singles];
      if (load[slot] != 1) {
        continue;
      }
      int term = termsXored[slot];
      order[peeled] = term;
      decides[peeled++] = slot;
      add(hashes[term], term, -1, load, termsXored);
      for (int i = 0; i < PARTS; i++) {
        int other = slot(hashes[term], i);
        if (load[other] == 1) {
          single[singles++] = other;
        }
      }
    }
    for (int i = peeled - 1; i >= 0 && peeled == hashes.length; i--) {
      long hash = hashes[order[i]];
      int others = read(slot(hash, 0)) ^ read(slot(hash, 1)) ^ read(slot(hash, 2));
      write(decides[i], numbers[order[i]] ^ others); // the slot itself still holds 0
    }
    return peeled == hashes.length;
  }

  private void add(long hash, int term, int change, int[] load, int[] termsXored) {
    for (int i = 0; i < PARTS; i++) {
      int slot = slot(hash, i);
      load[slot] += change;
      termsXored[slot] ^= term;
    }
  }

  private int slot(long hash, int i) {
    long turned = Long.rotateLeft(hash, 21 * i) & 0xFFFFFFFFL;
    return (int) (turned * part >>> 32) + i * part;
  }

  private int read(int slot) {
    long start = (long) slot * bits;
    int at = (int) (start >>> 3);
    long word = 0;
    for (int i = 0; i < PADDING; i++) {
      word |= (packed[at + i] & 0xFFL) << (8 * i);
    }
    return (int) (word >>> (start & 7) & ((1L << bits) - 1));
  }

  private void write(int slot, int number) {
    long start = (long) slot * bits;
    long word = (long) number << (start & 7);
    for (int at = (int) (start >>> 3); word != 0; at++, word >>>= 8) {
      packed[at] |= (byte) word;
    }
  }

  /** A polynomial over the bytes, its bits mixed as at the end of MurmurHash3. */
  private static long hash(BytesRef term, long seed) {
    long hash = seed ^ term.length;
    for (int i = term.offset; i < term.offset + term.length; i++) {
      hash = (hash + term.bytes[i]) * (seed | 1);
    }
    return mix(hash);
  }

  private static long mix(long hash) {
    hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    hash = (hash ^ hash >>> 33) * 0xc4ceb9fe1a85ec53L;
    return hash ^ hash >>> 33;
  }

  void write(DataOutputStream out) throws IOException {
    out.writeLong(seed);
    out.writeInt(part);
    out.writeInt(bits);
    out.writeInt(packed.length);
    out.write(packed);
  }

  static XorTable read(DataInputStream in) throws IOException {
    long seed = in.readLong();
    int part = in.readInt();
    int bits = in.readInt();
    byte[] packed = new byte[in.readInt()];
    in.readFully(packed);
    return new XorTable(seed, part, bits, packed);
  }
}
