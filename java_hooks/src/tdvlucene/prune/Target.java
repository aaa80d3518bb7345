package tdvlucene.prune;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.NormKind;
import tdvlucene.common.UserException;
import tdvlucene.rules.PostingRule;
import tdvlucene.rules.TermTable;

/** A field to be pruned, and what becomes of it in each segment. */
final class Target {
  final String field;
  final TermTable table;
  final PostingRule rule;
  final List<Pruning> prunings = new ArrayList<>();
  NormKind norms;

  /** Null unless norms are baked; then also the searcher's, and what is made of both. */
  BakedNorms.Parameters held;

  BakedNorms.Parameters searched;
  BakedNorms baked;
  double average;

  Target(String field, TermTable table, PostingRule rule) {
    this.field = field;
    this.table = table;
    this.rule = rule;
  }

  void bake(long tokens, int documents) {
    if (norms == NormKind.IMPACT) {
      throw new UserException(
          "field '" + field + "' is of an impact index, which has no k1 and b to write into its "
              + "norms: leave out " + UserException.argument("search_as"));
    }
    if (average == 0) { // it is given to a shard
      average = documents == 0 ? 1 : (double) tokens / documents;
    }
    baked = new BakedNorms(norms, held, searched, average);
  }

  long norm(int length) {
    return baked == null ? norms.encode(length) : baked.encode(length);
  }

  /** Documents whose K no norm comes near, and by which share of it theirs is off. */
  Map<String, Object> offs(List<Segment> segments) {
    int beyond = 0;
    double sum = 0;
    double largest = 0;
    for (int i = 0; i < segments.size(); i++) {
      int[] lengths = prunings.get(i).newLengths();
      for (int doc = 0; doc < lengths.length; doc++) {
        if (lengths[doc] > 0 && segments.get(i).isLive(doc) && baked.isBeyond(lengths[doc])) {
          double off = baked.off(lengths[doc]);
          beyond++;
          sum += off;
          largest = Math.max(largest, off);
        }
      }
    }
    Map<String, Object> offs = new TreeMap<>();
    offs.put("beyond", beyond);
    offs.put("mean_off", beyond == 0 ? 0.0 : sum / beyond);
    offs.put("largest_off", largest);
    return offs;
  }
}
