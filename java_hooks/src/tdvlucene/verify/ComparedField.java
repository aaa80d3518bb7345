package tdvlucene.verify;

import java.io.IOException;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRefHash;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.NormKind;
import tdvlucene.rules.FirstPositions;
import tdvlucene.rules.PostingRule;
import tdvlucene.rules.TermTable;

/** A field to be compared, and what pruning should have made of it. */
final class ComparedField {
  final String field;

  /** Null for a field that was not pruned: all terms are to stay. */
  final TermTable table;

  final PostingRule rule;
  NormKind norms;

  /** Length of each live document for the rule; null unless it reads them. */
  int[] oldLengths;

  /** Null unless norms are baked; then also the searcher's, and the average length recorded. */
  BakedNorms.Parameters held;

  BakedNorms.Parameters searched;
  double average;

  ComparedField(String field, TermTable table, PostingRule rule) {
    this.field = field;
    this.table = table;
    this.rule = rule;
  }

  /** What tells whether the norm of a new length is right. */
  NormsComparison.Expected expectedNorms() {
    if (held == null) {
      return (norm, length) -> {
        long expected = norms.encode(length);
        return norm == expected ? null : Long.toString(expected);
      };
    }
    BakedNorms baked = new BakedNorms(norms, held, searched, average);
    return (norm, length) -> baked.isNearest(norm, length)
        ? null
        : length == 0 ? "0" : "one for K = " + baked.wanted(length) + ", not " + baked.seen(norm);
  }

  /** A posting's new frequency, as the rewriter asks for it. */
  int freq(int term, int tf, int first, int number) {
    return rule.freq(term, tf, first, oldLengths == null ? 0 : oldLengths[number]);
  }

  /**
   * New frequency of a vector's current term; 0 also for terms without postings, which the
   * comparison of postings reports.
   *
   * @param terms those of the table, which a lock guards
   */
  int freq(BytesRefHash terms, TermsEnum vector, int number) throws IOException {
    int term = terms.find(vector.term());
    if (term < 0 || rule.drops(term)) {
      return 0;
    }
    int first = FirstPositions.of(vector, field, rule);
    return freq(term, Math.toIntExact(vector.totalTermFreq()), first, number);
  }
}
