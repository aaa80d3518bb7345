package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.FilterIndexOutput;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import tdvlucene.common.Job;

/** Lets a job be cancelled while Lucene copies files in bulk, when it calls nothing of ours. */
final class WatchedDirectory extends FilterDirectory {
  private final Job job;

  WatchedDirectory(Directory in, Job job) {
    super(in);
    this.job = job;
  }

  @Override
  public IndexOutput createOutput(String name, IOContext context) throws IOException {
    return new WatchedOutput(in.createOutput(name, context));
  }

  @Override
  public IndexOutput createTempOutput(String prefix, String suffix, IOContext context)
      throws IOException {
    return new WatchedOutput(in.createTempOutput(prefix, suffix, context));
  }

  /** Passes on the wide writes too, which its superclass would take apart into bytes. */
  private final class WatchedOutput extends FilterIndexOutput {
    private WatchedOutput(IndexOutput out) {
      super("watched " + out, out.getName(), out);
    }

    @Override
    public void writeBytes(byte[] source, int offset, int length) throws IOException {
      job.checkCancelled();
      out.writeBytes(source, offset, length);
    }

    @Override
    public void writeShort(short value) throws IOException {
      out.writeShort(value);
    }

    @Override
    public void writeInt(int value) throws IOException {
      out.writeInt(value);
    }

    @Override
    public void writeLong(long value) throws IOException {
      out.writeLong(value);
    }
  }
}
