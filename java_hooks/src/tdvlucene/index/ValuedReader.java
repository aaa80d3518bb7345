package tdvlucene.index;

import org.apache.lucene.codecs.DocValuesProducer;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Lucene;

/** A segment seen with one more field: a binary doc value of one of its documents. */
final class ValuedReader extends ChangedReader {
  private final String name;
  private final int document;
  private final BytesRef value;

  /** @param number of the field; one that no field of the index has */
  ValuedReader(CodecReader in, String name, int number, int document, BytesRef value) {
    super(in, describe(in.getFieldInfos(), name, number));
    this.name = name;
    this.document = document;
    this.value = value;
  }

  private static FieldInfos describe(FieldInfos before, String name, int number) {
    FieldInfo[] all = new FieldInfo[before.size() + 1];
    int next = 0;
    for (FieldInfo info : before) {
      all[next++] = info;
    }
    all[next] = Lucene.binaryDocValues(name, number);
    return new FieldInfos(all);
  }

  @Override
  public DocValuesProducer getDocValuesReader() {
    return Lucene.withBinary(
        in.getDocValuesReader(), name, () -> new OneBinaryValue(document, value));
  }
}
