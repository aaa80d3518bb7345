package tdvlucene.prune;

import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.util.BytesRef;

/** Binary doc values that only one document of a segment has. */
final class OneBinaryValue extends BinaryDocValues {
  private final int only;
  private final BytesRef value;
  private int doc = -1;

  OneBinaryValue(int only, BytesRef value) {
    this.only = only;
    this.value = value;
  }

  @Override
  public BytesRef binaryValue() {
    return value;
  }

  @Override
  public int docID() {
    return doc;
  }

  @Override
  public int nextDoc() {
    return advance(doc + 1);
  }

  @Override
  public int advance(int target) {
    doc = target <= only ? only : NO_MORE_DOCS;
    return doc;
  }

  @Override
  public boolean advanceExact(int target) {
    doc = target;
    return target == only;
  }

  @Override
  public long cost() {
    return 1;
  }
}
