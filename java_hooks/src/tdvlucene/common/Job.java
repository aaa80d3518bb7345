package tdvlucene.common;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.index.IndexReader;

/**
 * Long work on a thread of its own, watched from Python.
 *
 * <p>The bridge blocks its caller: a signal sent to Python during a Java call is handled only when
 * the call returns. So the caller starts a job, waits for it in short steps with {@link #await},
 * shows {@link #done} of {@link #total} in between, and may {@link #cancel} it. A cancelled or
 * failed job cleans up in its own {@code run}; {@link #failure} says what went wrong. A job opens
 * indexes only through {@link #open}, or names them to {@link #reads}, so that damage in them is recognised.
 */
public abstract class Job {
  private Thread thread;
  private volatile Throwable thrown;
  private volatile String result = "";
  private volatile boolean cancelled;
  private volatile String label = "";
  private final AtomicLong done = new AtomicLong();
  private volatile long total;

  /** Indexes that were opened, where damage is looked for when the work fails. */
  private final Set<Index> opened = new LinkedHashSet<>();

  /**
   * Does the work, and returns what {@link #result} is to say. Calls {@link #progress} and
   * {@link #checkCancelled} as it goes.
   */
  protected abstract Object run() throws Exception;

  /** Opens the last commit of an index; to be closed by the job. */
  public final IndexReader open(Index index) throws IOException {
    reads(index);
    return index.open();
  }

  /** As {@link #open}, for an index that nobody is writing to. */
  protected final IndexReader openUnlocked(Index index) throws IOException {
    reads(index);
    return index.openUnlocked();
  }

  /** Says that the job reads an index which somebody else has opened. */
  protected final void reads(Index index) {
    opened.add(index);
  }

  /** The result as JSON, valid once {@link #await} returned true. */
  public final String result() {
    return result;
  }

  public final void start() {
    thread = new Thread(this::runAndCatch, getClass().getSimpleName());
    thread.setDaemon(true);
    thread.start();
  }

  /** Waits for at most {@code millis} milliseconds; true when the job has ended. */
  public final boolean await(int millis) throws InterruptedException {
    thread.join(millis);
    return !thread.isAlive();
  }

  /** Asks the job to end; it does at its next {@link #checkCancelled}. */
  public final void cancel() {
    cancelled = true;
  }

  public final String label() {
    return label;
  }

  public final long done() {
    return done.get();
  }

  public final long total() {
    return total;
  }

  /** Starts a new phase of {@code total} units (0 = unknown). */
  protected final void phase(String label, long total) {
    this.done.set(0);
    this.total = total;
    this.label = label;
  }

  /** Says that {@code done} units of the phase are behind us; cheap, one volatile write. */
  protected final void progress(long done) {
    this.done.set(done);
    checkCancelled();
  }

  /** Says that {@code more} units are behind us; for work on several threads. */
  public final void advance(long more) {
    done.addAndGet(more);
    checkCancelled();
  }

  /** Throws when the user cancelled the job. */
  public final void checkCancelled() {
    if (cancelled) {
      throw new CancelledException();
    }
  }

  /** "" when the job went well, else "user", "disk" (is full), "cancelled" or "defect". */
  public final String failureKind() {
    return thrown == null ? "" : cancelled ? "cancelled" : Failures.kind(thrown);
  }

  /** Says what went wrong. */
  public final String failure() {
    return thrown == null ? "" : Failures.describe(thrown);
  }

  private void runAndCatch() {
    try {
      result = Json.of(run());
    } catch (Throwable t) { // also OutOfMemoryError: whoever waits must learn of it
      thrown = explain(t);
    }
  }

  private Throwable explain(Throwable failure) {
    try {
      checkCancelled();
      return Failures.explain(failure, opened, read -> checkCancelled());
    } catch (CancelledException e) {
      return failure;
    }
  }

  private static final class CancelledException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }
}
