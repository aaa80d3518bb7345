package tdvlucene.common;

import java.util.List;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.Bits;

/**
 * Numbers the live documents of an index from 0 in index order.
 *
 * <p>Read-only, so threads can share it. Memory: eight bytes for each document where some are
 * deleted.
 */
public final class DocumentNumbers {
  /** The number of each document, -1 of a deleted one; null: its own. */
  private final int[] numbers;

  /** The document of each number. */
  private final int[] docs;

  private final int size;

  /** Numbers the documents that are not deleted. */
  public DocumentNumbers(IndexReader reader) {
    size = reader.numDocs();
    numbers = reader.hasDeletions() ? new int[reader.maxDoc()] : null;
    docs = numbers == null ? null : new int[size];
    int next = 0;
    for (LeafReaderContext leaf : numbers == null ? List.<LeafReaderContext>of() : reader.leaves()) {
      Bits live = leaf.reader().getLiveDocs();
      for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
        boolean isLive = live == null || live.get(doc);
        numbers[leaf.docBase + doc] = isLive ? next : -1;
        if (isLive) {
          docs[next++] = leaf.docBase + doc;
        }
      }
    }
  }

  /** Documents that have a number. */
  public int size() {
    return size;
  }

  /** The number of a document of the whole index, -1 when it has none. */
  public int of(int doc) {
    return numbers == null ? doc : numbers[doc];
  }

  /** The document that has a number. */
  public int doc(int number) {
    return numbers == null ? number : docs[number];
  }
}
