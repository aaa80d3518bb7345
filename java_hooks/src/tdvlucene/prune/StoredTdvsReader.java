package tdvlucene.prune;

import org.apache.lucene.codecs.DocValuesProducer;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Lucene;

/** A segment with one more field: the encoded TDVs, as a binary doc value of one document. */
final class StoredTdvsReader extends ChangedReader {
  private final String name;
  private final int document;
  private final BytesRef encoded;

  /** @param number of the field; one that no field of the index has */
  StoredTdvsReader(CodecReader in, String name, int number, int document, BytesRef encoded) {
    super(in, describe(in.getFieldInfos(), name, number));
    this.name = name;
    this.document = document;
    this.encoded = encoded;
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
        in.getDocValuesReader(), name, () -> new OneBinaryValue(document, encoded));
  }
}
