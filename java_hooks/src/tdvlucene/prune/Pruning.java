package tdvlucene.prune;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.Job;
import tdvlucene.rules.PlannedField;

/**
 * How one field is pruned in one segment: what the wrappers of its readers share.
 *
 * @param oldLengths length of each document before; null unless the rule reads it
 * @param tokens of each document before; null unless norms depend on them
 * @param newLengths length of each document of the segment after pruning
 */
record Pruning(
    Job job, Segment segment, PlannedField target, int[] oldLengths, int[] tokens,
    int[] newLengths) {
  /** A posting's new frequency; 0 also for deleted documents. */
  int freq(int term, int tf, int first, int doc) {
    if (!segment.isLive(doc)) {
      return 0;
    }
    return target.rule.freq(term, tf, first, oldLengths == null ? 0 : oldLengths[doc]);
  }

  /** Live documents that keep no term. */
  int countEmptied() {
    int count = 0;
    for (int doc = 0; doc < newLengths.length; doc++) {
      count += newLengths[doc] == 0 && segment.isLive(doc) ? 1 : 0;
    }
    return count;
  }

  /** Documents whose K no norm comes near, and by which share of it theirs is off. */
  static Map<String, Object> offs(BakedNorms baked, List<Pruning> prunings) {
    int beyond = 0;
    double sum = 0;
    double largest = 0;
    for (Pruning pruning : prunings) {
      for (int doc = 0; doc < pruning.newLengths.length; doc++) {
        int length = pruning.newLengths[doc];
        if (length > 0 && pruning.segment.isLive(doc) && baked.isBeyond(length)) {
          double off = baked.off(length);
          beyond++;
          sum += off;
          largest = Math.max(largest, off);
        }
      }
    }
    double mean = beyond == 0 ? 0.0 : sum / beyond;
    return new TreeMap<>(Map.of("beyond", beyond, "mean_off", mean, "largest_off", largest));
  }
}
