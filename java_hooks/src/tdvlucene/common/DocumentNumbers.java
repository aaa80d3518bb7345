package tdvlucene.common;

import java.util.List;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.Bits;

/**
 * Numbers the live documents of an index from 0 in index order.
 *
 * <p>Read-only, so threads can share it. Memory: four bytes for each document where some are
 * deleted.
 */
public final class DocumentNumbers {
  /** The number of each document; of a deleted one, {@code ~} the next one's; null: its own. */
  private final int[] numbers;

  private final int size;

  /** Numbers the documents that are not deleted. */
  public DocumentNumbers(IndexReader reader) {
    size = reader.numDocs();
    numbers = reader.hasDeletions() ? new int[reader.maxDoc()] : null;
    int next = 0;
    for (LeafReaderContext leaf : numbers == null ? List.<LeafReaderContext>of() : reader.leaves()) {
      Bits live = leaf.reader().getLiveDocs();
      for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
        numbers[leaf.docBase + doc] = live == null || live.get(doc) ? next++ : ~next;
      }
    }
  }

  /** Documents that have a number. */
  public int size() {
    return size;
  }

  public boolean areAll() {
    return numbers == null;
  }

  /** The number of a document of the whole index, -1 when it has none. */
  public int of(int doc) {
    return numbers == null ? doc : Math.max(numbers[doc], -1);
  }

  /** The document that has a number. */
  public int doc(int number) {
    if (numbers == null) {
      return number;
    }
    int low = number;
    int high = numbers.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      int found = numbers[middle];
      if (found >= 0 ? found >= number : ~found > number) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
