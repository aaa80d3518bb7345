package tdvlucene.common;

import java.io.IOException;
import java.util.function.Supplier;
import org.apache.lucene.codecs.DocValuesProducer;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.index.SortedNumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.util.IOUtils;

/**
 * The part of {@link Lucene#withBinary} that both Lucenes share; Lucene 10 also asks for skippers.
 */
abstract class WithBinary extends DocValuesProducer {
  private final DocValuesProducer in;
  private final String name;
  private final Supplier<BinaryDocValues> more;

  WithBinary(DocValuesProducer in, String name, Supplier<BinaryDocValues> more) {
    this.in = in;
    this.name = name;
    this.more = more;
  }

  @Override
  public BinaryDocValues getBinary(FieldInfo info) throws IOException {
    return info.name.equals(name) ? more.get() : in.getBinary(info);
  }

  @Override
  public NumericDocValues getNumeric(FieldInfo info) throws IOException {
    return in.getNumeric(info);
  }

  @Override
  public SortedDocValues getSorted(FieldInfo info) throws IOException {
    return in.getSorted(info);
  }

  @Override
  public SortedNumericDocValues getSortedNumeric(FieldInfo info) throws IOException {
    return in.getSortedNumeric(info);
  }

  @Override
  public SortedSetDocValues getSortedSet(FieldInfo info) throws IOException {
    return in.getSortedSet(info);
  }

  @Override
  public DocValuesProducer getMergeInstance() {
    return Lucene.withBinary(in == null ? null : in.getMergeInstance(), name, more);
  }

  @Override
  public void checkIntegrity() throws IOException {
    if (in != null) {
      in.checkIntegrity();
    }
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(in);
  }
}
