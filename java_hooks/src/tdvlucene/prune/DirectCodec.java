package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FieldsConsumer;
import org.apache.lucene.codecs.FieldsProducer;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.codecs.PostingsFormat;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.MergeState;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.index.SegmentWriteState;

/**
 * A codec with the name and the formats of another, which bypasses Lucene's merging of postings
 * where a merge has one segment whose documents all stay.
 *
 * <p>{@code FieldsConsumer.merge} puts four layers between the reader and the writer, each of
 * which costs a virtual call for every posting: segments are joined, numbers mapped, deleted
 * documents left out. That is a third of the time of a merge, and a single whole segment needs
 * none of it: its postings can be written as a flush writes them. The saving pays for the
 * rewriter's first pass.
 */
final class DirectCodec extends FilterCodec {
  private final PostingsFormat postings;

  DirectCodec(Codec delegate) {
    super(delegate.getName(), delegate);
    this.postings = new DirectFormat(delegate.postingsFormat());
  }

  @Override
  public PostingsFormat postingsFormat() {
    return postings;
  }

  private static final class DirectFormat extends PostingsFormat {
    private final PostingsFormat in;

    private DirectFormat(PostingsFormat in) {
      super(in.getName());
      this.in = in;
    }

    @Override
    public FieldsConsumer fieldsConsumer(SegmentWriteState state) throws IOException {
      return new DirectConsumer(in.fieldsConsumer(state));
    }

    @Override
    public FieldsProducer fieldsProducer(SegmentReadState state) throws IOException {
      return in.fieldsProducer(state);
    }
  }

  private static final class DirectConsumer extends FieldsConsumer {
    private final FieldsConsumer in;

    private DirectConsumer(FieldsConsumer in) {
      this.in = in;
    }

    @Override
    public void write(Fields fields, NormsProducer norms) throws IOException {
      in.write(fields, norms);
    }

    @Override
    public void merge(MergeState state, NormsProducer norms) throws IOException {
      boolean whole =
          state.fieldsProducers.length == 1
              && state.fieldsProducers[0] != null
              && state.liveDocs[0] == null
              && !state.needsIndexSort;
      if (!whole) {
        in.merge(state, norms);
        return;
      }
      state.fieldsProducers[0].checkIntegrity(); // as a merge does
      in.write(state.fieldsProducers[0], norms);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
