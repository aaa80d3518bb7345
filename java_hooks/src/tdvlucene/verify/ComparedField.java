package tdvlucene.verify;

import tdvlucene.rules.PlannedField;
import tdvlucene.rules.PostingRule;

/**
 * A field to be compared, and what pruning should have made of it.
 *
 * @param oldLengths length of each live document for the rule; null unless it reads them
 */
record ComparedField(PlannedField plan, int[] oldLengths) {
  PostingRule rule() {
    return plan.rule;
  }

  /** A posting's new frequency, as the rewriter asks for it. */
  int freq(int term, int tf, int first, int number) {
    return plan.rule.freq(term, tf, first, oldLengths == null ? 0 : oldLengths[number]);
  }
}
