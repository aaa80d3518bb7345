package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.RateLimitedIndexOutput;
import org.apache.lucene.store.RateLimiter;
import tdvlucene.common.Job;

/** Lets a job be cancelled while Lucene copies files in bulk, when it calls nothing of ours. */
final class WatchedDirectory extends FilterDirectory {
  /** Lucene asks it every five milliseconds of so fast a disk, and never has to wait. */
  private static final double MEGABYTES_A_SECOND = 1000;

  private final RateLimiter watch;

  WatchedDirectory(Directory in, Job job) {
    super(in);
    this.watch =
        new RateLimiter.SimpleRateLimiter(MEGABYTES_A_SECOND) {
          @Override
          public long pause(long bytes) {
            job.checkCancelled();
            return 0;
          }
        };
  }

  @Override
  public IndexOutput createOutput(String name, IOContext context) throws IOException {
    return new RateLimitedIndexOutput(watch, in.createOutput(name, context));
  }

  @Override
  public IndexOutput createTempOutput(String prefix, String suffix, IOContext context)
      throws IOException {
    return new RateLimitedIndexOutput(watch, in.createTempOutput(prefix, suffix, context));
  }
}
