package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.lucene.index.MergePolicy.OneMerge;
import org.apache.lucene.index.MergeScheduler;
import org.apache.lucene.index.MergeTrigger;
import tdvlucene.common.Pool;

/**
 * Runs merges on a pool, the largest first, and waits for them.
 *
 * <p>{@code ConcurrentMergeScheduler} chooses its own number of threads, throttles writing, and
 * loses the stack of what failed.
 */
final class PooledMerges extends MergeScheduler {
  private final Pool pool;

  PooledMerges(Pool pool) {
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
