package tdvlucene.common;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.util.IOConsumer;
import org.apache.lucene.util.IOSupplier;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.NamedThreadFactory;
import org.apache.lucene.util.ThreadInterruptedException;

/** A fixed number of threads; rethrows what their tasks threw. */
public final class Pool implements Closeable {
  private final ExecutorService threads;

  public Pool(int size) {
    this.threads = Executors.newFixedThreadPool(size, new NamedThreadFactory("tdv"));
  }

  /** A piece of work. */
  public interface Task extends Callable<Void> {
    void run() throws Exception;

    @Override
    default Void call() throws Exception {
      run();
      return null;
    }
  }

  /** Runs all tasks and waits for all; throws what the first of them (in list order) threw. */
  public void run(List<Task> tasks) throws IOException {
    try {
      for (Future<Void> ended : threads.invokeAll(tasks)) {
        get(ended);
      }
    } catch (InterruptedException e) {
      throw new ThreadInterruptedException(e);
    }
  }

  /**
   * Runs tasks as they are asked for, at most so many ahead, and gives out their results in order.
   *
   * @param tasks null after the last
   */
  public <T> void runInOrder(IOSupplier<Callable<T>> tasks, int ahead, IOConsumer<T> results)
      throws IOException {
    Queue<Future<T>> running = new ArrayDeque<>();
    Callable<T> next = tasks.get();
    while (next != null || !running.isEmpty()) {
      if (next != null && running.size() < ahead) {
        running.add(threads.submit(next));
        next = tasks.get();
      } else {
        results.accept(get(running.remove()));
      }
    }
  }

  /** Waits for a task's result; throws what it threw. */
  private static <T> T get(Future<T> future) throws IOException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw IOUtils.rethrowAlways(e.getCause());
    } catch (InterruptedException e) {
      throw new ThreadInterruptedException(e);
    }
  }

  /** Waits for what still runs: it may read files that are about to be unmapped. */
  @Override
  public void close() {
    threads.close();
  }
}
