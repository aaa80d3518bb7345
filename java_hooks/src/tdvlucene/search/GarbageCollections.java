package tdvlucene.search;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;

/** Garbage collections since this object was made: they may have interrupted a timed round. */
final class GarbageCollections {
  private final long number = number();
  private final long millis = millis();

  void describe(Map<String, Object> result) {
    result.put("gc_collections", number() - number);
    result.put("gc_ms", millis() - millis);
  }

  private static long number() {
    long sum = 0;
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      sum += Math.max(0, bean.getCollectionCount()); // -1 where unknown
    }
    return sum;
  }

  private static long millis() {
    long sum = 0;
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      sum += Math.max(0, bean.getCollectionTime());
    }
    return sum;
  }
}
