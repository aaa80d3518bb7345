package tdvlucene.index;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * Finds terms in the vocabulary in any order: what rewriting term vectors needs.
 *
 * <p>Open addressing over one array of bytes; read-only once made, so that threads share it.
 * Memory: the terms' bytes and twelve to twenty bytes a term. {@code BytesRefHash} would do, but
 * its lookup writes to a scratch field.
 */
final class TermLookup {
  private static final int SEED = 0;
  private static final int FREE = -1;

  private final byte[] bytes;
  private final int[] ends;
  private final int[] slots;

  /** Reads the whole vocabulary. */
  TermLookup(TermTable table) throws IOException {
    int size = table.size();
    ends = new int[size + 1];
    slots = new int[Math.max(2, Integer.highestOneBit(Math.max(1, size)) * 4)];
    Arrays.fill(slots, FREE);
    bytes = new byte[Math.toIntExact(table.termBytes())];
    TermTable.Cursor cursor = table.cursor();
    for (int term = 0; cursor.seek(term); term++) {
      BytesRef text = cursor.term();
      System.arraycopy(text.bytes, text.offset, bytes, ends[term], text.length);
      ends[term + 1] = ends[term] + text.length;
      slots[slot(text)] = term;
    }
  }

  /** The term's number, -1 when the vocabulary lacks it. */
  int find(BytesRef term) {
    return slots[slot(term)];
  }

  /** The slot that holds the term, or the free one where it belongs. */
  private int slot(BytesRef term) {
    int mask = slots.length - 1;
    int slot = StringHelper.murmurhash3_x86_32(term, SEED) & mask;
    while (slots[slot] != FREE && !holds(slots[slot], term)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private boolean holds(int number, BytesRef term) {
    return Arrays.equals(
        bytes, ends[number], ends[number + 1],
        term.bytes, term.offset, term.offset + term.length);
  }
}
