package tdvlucene.search;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.function.ToLongFunction;

/** Garbage collections since this object was made: they may have interrupted a timed round. */
final class GarbageCollections {
  private final long number = sum(GarbageCollectorMXBean::getCollectionCount);
  private final long millis = sum(GarbageCollectorMXBean::getCollectionTime);

  void describe(Map<String, Object> result) {
    result.put("gc_collections", sum(GarbageCollectorMXBean::getCollectionCount) - number);
    result.put("gc_ms", sum(GarbageCollectorMXBean::getCollectionTime) - millis);
  }

  private static long sum(ToLongFunction<GarbageCollectorMXBean> figure) {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(bean -> Math.max(0, figure.applyAsLong(bean))) // -1 where unknown
        .sum();
  }
}
