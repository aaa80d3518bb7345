package tdvlucene.prune;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.PostingsFormat;
import org.apache.lucene.codecs.lucene90.Lucene90StoredFieldsFormat;
import org.apache.lucene.codecs.perfield.PerFieldPostingsFormat;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterMergePolicy;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.MergeScheduler;
import org.apache.lucene.index.MergeTrigger;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.index.SegmentReader;
import tdvlucene.common.Index;
import tdvlucene.common.Lucene;
import tdvlucene.common.Pool;

/** A writer's configuration that keeps the properties of the source index. */
final class SourceSettings {
  private static final String MODE_ATTRIBUTE =
      Lucene90StoredFieldsFormat.class.getSimpleName() + ".mode";

  private SourceSettings() {}

  /**
   * Index sort, special fields, created version and codec of the source.
   *
   * @param apart new fields, written into files of their own
   */
  static IndexWriterConfig of(IndexReader source, Set<String> apart) {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setCodec(FilesApart.of(config.getCodec(), apart)); // of a source without segments
    config.setCommitOnClose(false); // what was not committed on purpose must not look whole
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(source)) {
      if (info.isSoftDeletesField()) {
        config.setSoftDeletesField(info.name);
      }
      Lucene.keepParentField(config, info);
    }
    for (SegmentCommitInfo commit : Index.segmentsOf(source)) {
      SegmentInfo segment = commit.info;
      if (segment.getIndexSort() != null) {
        config.setIndexSort(segment.getIndexSort());
      }
      config.setCodec(FilesApart.of(codec(segment), apart));
    }
    for (DirectoryReader shard : Index.shardsOf(source)) {
      SegmentInfos commit = Index.commitOf(shard);
      if (commit.size() > 0) {
        config.setIndexCreatedVersionMajor(commit.getIndexCreatedVersionMajor());
      }
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
    try {
      for (Constructor<?> constructor : codec.getConstructors()) {
        for (Class<?> parameter : constructor.getParameterTypes()) {
          for (Object mode : parameter.isEnum() ? parameter.getEnumConstants() : new Object[0]) {
            if (mode.toString().equals(name)) {
              return (Codec) constructor.newInstance(mode);
            }
          }
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(codec + " failed", e);
    }
    throw new IllegalStateException(codec + " cannot store fields in the mode " + name);
  }

  /**
   * A codec that writes the terms and postings of some fields into files of their own.
   *
   * <p>So they lie together on disk, and their bytes can be told. Lucene finds them by what it records
   * of each field, and reads the segment as any of that codec's.
   */
  private static final class FilesApart extends FilterCodec {
    private final PostingsFormat postings;

    private FilesApart(Codec codec, PerFieldPostingsFormat usual, Set<String> fields) {
      super(codec.getName(), codec);
      PostingsFormat apart = PostingsFormat.forName(usual.getPostingsFormatForField("").getName());
      this.postings =
          new PerFieldPostingsFormat() {
            @Override
            public PostingsFormat getPostingsFormatForField(String field) {
              return fields.contains(field) ? apart : usual.getPostingsFormatForField(field);
            }
          };
    }

    /** The codec itself where it puts no field apart. */
    static Codec of(Codec codec, Set<String> fields) {
      return !fields.isEmpty() && codec.postingsFormat() instanceof PerFieldPostingsFormat usual
          ? new FilesApart(codec, usual, fields)
          : codec;
    }

    @Override
    public PostingsFormat postingsFormat() {
      return postings;
    }
  }

  /**
   * Merges each added reader into a segment of its own, in order, or all into one; never anything
   * else.
   */
  static final class Merges extends FilterMergePolicy {
    private final boolean oneSegment;

    /** The origins that the segments are to say. */
    private final List<Origin> origins;

    /** The segments made of one that is compound in the source. */
    private final Set<SegmentCommitInfo> compound = ConcurrentHashMap.newKeySet();

    /** @param origins of the segments that are added, in order */
    Merges(List<Origin> origins, boolean oneSegment) {
      super(NoMergePolicy.INSTANCE);
      this.origins = origins;
      this.oneSegment = oneSegment;
    }

    @Override
    public MergeSpecification findMerges(CodecReader... readers) {
      MergeSpecification merges = new MergeSpecification();
      if (oneSegment && readers.length > 0) {
        CodecReader[] live = withDocuments(readers);
        merges.add(new MarkedMerge(Origin.SEVERAL, live.length > 0 ? live : readers));
        return merges;
      }
      for (int i = 0; i < readers.length; i++) {
        merges.add(new MarkedMerge(origins.get(i), readers[i]));
      }
      return merges;
    }

    /** A merge whose segment says where it comes from. */
    private final class MarkedMerge extends OneMerge {
      private final Origin origin;
      private final boolean isCompound;

      private MarkedMerge(Origin origin, CodecReader... readers) {
        super(readers);
        this.origin = origin;
        this.isCompound = // one segment of all is no compound, as Lucene itself would decide
            !oneSegment
                && FilterCodecReader.unwrap(readers[0]) instanceof SegmentReader segment
                && segment.getSegmentInfo().info.getUseCompoundFile();
      }

      @Override
      public void setMergeInfo(SegmentCommitInfo made) {
        super.setMergeInfo(made);
        origin.writeTo(made.info); // before Lucene writes the segment's description
        if (isCompound) {
          compound.add(made);
        }
      }
    }

    /** The others would leave their fields in the segment, without a document that has them. */
    private static CodecReader[] withDocuments(CodecReader[] readers) {
      return Arrays.stream(readers)
          .filter(reader -> reader.numDocs() > 0)
          .toArray(CodecReader[]::new);
    }

    @Override
    public boolean useCompoundFile(
        SegmentInfos infos, SegmentCommitInfo merged, MergeContext context) {
      return compound.contains(merged);
    }

    /**
     * Runs merges on a pool, the largest first, and waits for them.
     *
     * <p>{@code ConcurrentMergeScheduler} chooses its own number of threads, throttles writing, and
     * loses the stack of what failed.
     */
    static final class Scheduler extends MergeScheduler {
      private final Pool pool;

      Scheduler(Pool pool) {
        this.pool = pool;
      }

      @Override
      public void merge(MergeSource source, MergeTrigger trigger) throws IOException {
        List<OneMerge> merges = new ArrayList<>();
        for (OneMerge next = source.getNextMerge(); next != null; next = source.getNextMerge()) {
          merges.add(next);
        }
        merges.sort(Comparator.comparingInt(OneMerge::totalNumDocs).reversed());
        List<Pool.Task> tasks = new ArrayList<>();
        merges.forEach(merge -> tasks.add(() -> source.merge(merge)));
        pool.run(tasks);
      }

      @Override
      public void close() {}
    }
  }
}
