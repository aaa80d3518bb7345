package tdvlucene.index;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.NamedThreadFactory;
import org.apache.lucene.util.ThreadInterruptedException;

/** A fixed number of threads; the first task that fails speaks for all. */
final class Pool implements Closeable {
  private final ExecutorService threads;

  Pool(int size) {
    threads = Executors.newFixedThreadPool(size, new NamedThreadFactory("tdv"));
  }

  /** Runs all tasks and waits for all; throws what the first of them (in list order) threw. */
  void run(List<? extends Callable<?>> tasks) throws IOException {
    List<Future<?>> futures = new ArrayList<>();
    for (Callable<?> task : tasks) {
      futures.add(threads.submit(task));
    }
    Throwable first = null;
    for (Future<?> future : futures) {
      try {
        future.get();
      } catch (ExecutionException e) {
        first = first == null ? e.getCause() : first;
      } catch (InterruptedException e) {
        throw new ThreadInterruptedException(e);
      }
    }
    if (first != null) {
      throw IOUtils.rethrowAlways(first);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
