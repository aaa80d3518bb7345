package tdvlucene.common;

import java.util.Arrays;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * Numbers the live documents of an index from 0 in index order.
 *
 * <p>Read-only, so threads can share it. Memory: a bit and a half for each document.
 */
public final class DocumentNumbers {
  /** Null when every document has its own number. */
  private final long[] chosen;

  /** Chosen documents before each word of {@link #chosen}. */
  private final int[] before;

  private final int size;

  private DocumentNumbers(int size) {
    this.chosen = null;
    this.before = null;
    this.size = size;
  }

  /** @param documents those to be numbered; not to be changed any more */
  private DocumentNumbers(FixedBitSet documents) {
    this.chosen = documents.getBits();
    this.before = new int[chosen.length];
    int next = 0;
    for (int word = 0; word < chosen.length; word++) {
      before[word] = next;
      next += Long.bitCount(chosen[word]);
    }
    this.size = next;
  }

  /** Numbers the documents that are not deleted. */
  public static DocumentNumbers ofLive(IndexReader reader) {
    if (!reader.hasDeletions()) {
      return new DocumentNumbers(reader.maxDoc());
    }
    FixedBitSet documents = new FixedBitSet(reader.maxDoc());
    for (LeafReaderContext leaf : reader.leaves()) {
      Bits live = leaf.reader().getLiveDocs();
      for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
        if (live == null || live.get(doc)) {
          documents.set(leaf.docBase + doc);
        }
      }
    }
    return new DocumentNumbers(documents);
  }

  /** Documents that have a number. */
  public int size() {
    return size;
  }

  public boolean areAll() {
    return chosen == null;
  }

  /** The number of a document of the whole index, -1 when it has none. */
  public int of(int doc) {
    if (chosen == null) {
      return doc;
    }
    int word = doc >> 6;
    long bit = 1L << doc; // Java shifts by the low six bits
    return (chosen[word] & bit) == 0
        ? -1
        : before[word] + Long.bitCount(chosen[word] & (bit - 1));
  }

  /** The document that has a number. */
  public int doc(int number) {
    if (chosen == null) {
      return number;
    }
    int word = Arrays.binarySearch(before, number);
    word = word >= 0 ? word : -word - 2;
    while (word + 1 < before.length && before[word + 1] <= number) {
      word++; // of the words that begin with this number, the last holds it
    }
    long left = chosen[word];
    for (int skip = number - before[word]; skip > 0; skip--) {
      left &= left - 1;
    }
    return (word << 6) + Long.numberOfTrailingZeros(left);
  }
}
