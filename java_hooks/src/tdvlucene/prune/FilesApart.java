package tdvlucene.prune;

import java.util.Set;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.PostingsFormat;
import org.apache.lucene.codecs.perfield.PerFieldPostingsFormat;

/**
 * A codec that writes the terms and postings of some fields into files of their own.
 *
 * <p>So they lie together on disk, and their bytes can be told. Lucene finds them by what it records
 * of each field, and reads the segment as any of that codec's.
 */
final class FilesApart extends FilterCodec {
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
