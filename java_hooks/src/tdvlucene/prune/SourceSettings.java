package tdvlucene.prune;

import java.lang.reflect.Constructor;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.lucene90.Lucene90StoredFieldsFormat;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafMetaData;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.search.Sort;
import tdvlucene.common.Lucene;
import tdvlucene.common.Segments;

/** A writer's configuration that keeps the properties of the source index. */
final class SourceSettings {
  private static final String MODE_ATTRIBUTE =
      Lucene90StoredFieldsFormat.class.getSimpleName() + ".mode";

  private SourceSettings() {}

  /** Index sort, special fields, created version and codec of the source. */
  static IndexWriterConfig of(IndexReader source) {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setCommitOnClose(false); // what was not committed on purpose must not look whole
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(source)) {
      if (info.isSoftDeletesField()) {
        config.setSoftDeletesField(info.name);
      }
      Lucene.keepParentField(config, info);
    }
    for (LeafReaderContext leaf : source.leaves()) {
      LeafMetaData segment = leaf.reader().getMetaData();
      config.setIndexCreatedVersionMajor(Lucene.createdVersion(segment));
      Sort sort = Lucene.sort(segment);
      if (sort != null) {
        config.setIndexSort(sort);
      }
      config.setCodec(codec(Segments.segmentOf(leaf).getSegmentInfo().info));
    }
    return config;
  }

  /** The segment's own codec where it can write; Lucene's old codecs only read. */
  private static Codec codec(SegmentInfo segment) {
    Codec codec = segment.getCodec();
    Codec current = Codec.getDefault();
    boolean old = codec.getClass().getName().contains(".backward_codecs.");
    if (!old && codec.getClass() != current.getClass()) {
      return codec;
    }
    String mode = segment.getAttribute(MODE_ATTRIBUTE);
    return mode == null ? current : withMode(current.getClass(), mode);
  }

  /** By reflection: the class, and the enum of modes in it, have another name in each release. */
  private static Codec withMode(Class<? extends Codec> codec, String name) {
    for (Constructor<?> constructor : codec.getConstructors()) {
      Class<?>[] parameters = constructor.getParameterTypes();
      if (parameters.length != 1 || !parameters[0].isEnum()) {
        continue;
      }
      for (Object mode : parameters[0].getEnumConstants()) {
        if (mode.toString().equals(name)) {
          return newCodec(constructor, mode);
        }
      }
    }
    throw new IllegalStateException(codec + " cannot store fields in the mode " + name);
  }

  private static Codec newCodec(Constructor<?> constructor, Object mode) {
    try {
      return (Codec) constructor.newInstance(mode);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(constructor + " failed", e);
    }
  }
}
