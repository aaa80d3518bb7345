package tdvlucene.index;

import org.apache.lucene.codecs.DocValuesProducer;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Lucene;

/** A segment seen with one more field: a binary doc value of one of its documents. For merging. */
final class ValuedReader extends FilterCodecReader {
  private final String name;
  private final int document;
  private final BytesRef value;
  private final FieldInfos infos;

  /** @param number of the field; one that no field of the index has */
  ValuedReader(CodecReader in, String name, int number, int document, BytesRef value) {
    super(in);
    this.name = name;
    this.document = document;
    this.value = value;
    FieldInfo[] all = new FieldInfo[in.getFieldInfos().size() + 1];
    int next = 0;
    for (FieldInfo info : in.getFieldInfos()) {
      all[next++] = info;
    }
    all[next] = Lucene.binaryDocValues(name, number);
    infos = new FieldInfos(all);
  }

  @Override
  public FieldInfos getFieldInfos() {
    return infos;
  }

  @Override
  public DocValuesProducer getDocValuesReader() {
    return Lucene.withBinary(
        in.getDocValuesReader(), name, () -> new OneBinaryValue(document, value));
  }

  @Override
  public CacheHelper getCoreCacheHelper() {
    return null; // the content differs from the segment's: nothing cached for it may be used
  }

  @Override
  public CacheHelper getReaderCacheHelper() {
    return null;
  }
}
