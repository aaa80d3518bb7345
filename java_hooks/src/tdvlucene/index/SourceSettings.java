package tdvlucene.index;

import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.lucene90.Lucene90StoredFieldsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99Codec;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafMetaData;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.index.SegmentReader;

/** A writer's configuration under which an index stays the kind of index it was. */
final class SourceSettings {
  private static final String MODE_ATTRIBUTE =
      Lucene90StoredFieldsFormat.class.getSimpleName() + ".mode";

  private SourceSettings() {}

  /** Index sort, soft-deletes field, created version and codec of the source. */
  static IndexWriterConfig of(DirectoryReader source) {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setCommitOnClose(false); // what was not committed on purpose must not look whole
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(source)) {
      if (info.isSoftDeletesField()) {
        config.setSoftDeletesField(info.name);
      }
    }
    for (LeafReaderContext leaf : source.leaves()) {
      LeafMetaData segment = leaf.reader().getMetaData();
      config.setIndexCreatedVersionMajor(segment.getCreatedVersionMajor());
      if (segment.getSort() != null) {
        config.setIndexSort(segment.getSort());
      }
      config.setCodec(codec(((SegmentReader) leaf.reader()).getSegmentInfo().info));
    }
    return config;
  }

  /** The segment's own codec where it can write; Lucene's old codecs only read. */
  private static Codec codec(SegmentInfo segment) {
    Codec codec = segment.getCodec();
    boolean old = codec.getClass().getName().contains(".backward_codecs.");
    if (!old && !(codec instanceof Lucene99Codec)) {
      return codec;
    }
    String mode = segment.getAttribute(MODE_ATTRIBUTE);
    return mode == null ? new Lucene99Codec() : new Lucene99Codec(Lucene99Codec.Mode.valueOf(mode));
  }
}
