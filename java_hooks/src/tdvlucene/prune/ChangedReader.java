package tdvlucene.prune;

import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterCodecReader;

/** A segment whose content or field descriptions were changed, to be merged. */
abstract class ChangedReader extends FilterCodecReader {
  private final FieldInfos infos;

  ChangedReader(CodecReader in, FieldInfos infos) {
    super(in);
    this.infos = infos;
  }

  @Override
  public final FieldInfos getFieldInfos() {
    return infos;
  }

  @Override
  public final CacheHelper getCoreCacheHelper() {
    return null; // the content differs from the segment's: nothing cached for it may be used
  }

  @Override
  public final CacheHelper getReaderCacheHelper() {
    return null;
  }
}
