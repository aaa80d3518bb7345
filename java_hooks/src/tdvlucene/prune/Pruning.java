package tdvlucene.prune;

import java.io.IOException;
import java.util.function.IntToLongFunction;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Job;
import tdvlucene.common.LocatedException;
import tdvlucene.common.UserException;
import tdvlucene.rules.PostingRule;
import tdvlucene.rules.TermTable;

/**
 * How one field is pruned in one segment: what the wrappers of its readers share.
 *
 * @param norms the norm of a document with a length
 * @param oldLengths length of each document before; null unless the rule reads it
 * @param newLengths length of each document of the segment after pruning
 */
record Pruning(
    Job job, Segment segment, String field, TermTable table, PostingRule rule,
    IntToLongFunction norms, int[] oldLengths, int[] newLengths) {
  /** A posting's new frequency; 0 also for deleted documents. */
  int freq(int term, int tf, int first, int doc) {
    if (!segment.isLive(doc)) {
      return 0;
    }
    return rule.freq(term, tf, first, oldLengths == null ? 0 : oldLengths[doc]);
  }

  /** Says where in the index something went wrong; the user's own errors stay as they are. */
  IOException locate(Throwable thrown, BytesRef term) {
    if (thrown instanceof UserException known) {
      throw known;
    }
    return new LocatedException(thrown, segment.name(), field, term);
  }
}
