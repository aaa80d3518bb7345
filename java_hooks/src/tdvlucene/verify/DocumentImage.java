package tdvlucene.verify;

import java.io.IOException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.StoredFieldVisitor;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.BytesRefBuilder;

/** What a document stores, or has in a column, as bytes: equal bytes mean equal content. */
final class DocumentImage extends StoredFieldVisitor {
  private final BytesRefBuilder bytes = new BytesRefBuilder();

  void clear() {
    bytes.clear();
  }

  boolean isEqualTo(DocumentImage other) {
    return bytes.get().equals(other.bytes.get());
  }

  void add(long value) {
    bytes.grow(bytes.length() + Long.BYTES);
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      bytes.append((byte) (value >>> shift));
    }
  }

  void add(BytesRef value) {
    add(value.length);
    bytes.append(value);
  }

  private void add(FieldInfo field, char kind) {
    add(new BytesRef(field.name));
    bytes.append((byte) kind);
  }

  /** The bytes, as text where they are UTF-8; "none" when there are none. */
  @Override
  public String toString() {
    return bytes.length() == 0 ? "none" : bytes.get().toString();
  }

  @Override
  public Status needsField(FieldInfo field) {
    return Status.YES;
  }

  @Override
  public void binaryField(FieldInfo field, byte[] value) throws IOException {
    add(field, 'b');
    add(new BytesRef(value));
  }

  @Override
  public void stringField(FieldInfo field, String value) throws IOException {
    add(field, 's');
    add(new BytesRef(value));
  }

  @Override
  public void intField(FieldInfo field, int value) {
    add(field, 'i');
    add(value);
  }

  @Override
  public void longField(FieldInfo field, long value) {
    add(field, 'l');
    add(value);
  }

  @Override
  public void floatField(FieldInfo field, float value) {
    add(field, 'f');
    add(Float.floatToRawIntBits(value));
  }

  @Override
  public void doubleField(FieldInfo field, double value) {
    add(field, 'd');
    add(Double.doubleToRawLongBits(value));
  }
}
