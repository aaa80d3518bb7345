package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import tdvlucene.common.Job;
import tdvlucene.common.NormKind;
import tdvlucene.rules.PostingRule;

/** Document lengths before pruning, which a {@link PostingRule} may read. */
public final class OriginalLengths {
  private static final int END = DocIdSetIterator.NO_MORE_DOCS;

  private OriginalLengths() {}

  /**
   * The length of each document of a segment, deleted ones among them: what its norm stands for,
   * or, in a field without norms, the sum of its frequencies, and of weights the largest.
   *
   * @param job is told the postings read
   */
  public static int[] of(Segment segment, String field, NormKind norms, Job job)
      throws IOException {
    int[] lengths = new int[segment.reader.maxDoc()];
    if (norms == NormKind.NONE || norms == NormKind.IMPACT) {
      readFrequencies(segment, field, norms == NormKind.IMPACT, job, lengths);
      return lengths;
    }
    NumericDocValues each = segment.reader.getNormValues(field);
    while (each != null && each.nextDoc() != END) {
      lengths[each.docID()] = norms.decode(each.longValue());
    }
    return lengths;
  }

  private static void readFrequencies(
      Segment segment, String field, boolean largest, Job job, int[] lengths) throws IOException {
    Terms terms = segment.reader.terms(field);
    TermsEnum each = terms == null ? TermsEnum.EMPTY : terms.iterator();
    PostingsEnum postings = null;
    while (each.next() != null) {
      postings = each.postings(postings, PostingsEnum.FREQS);
      for (int doc = postings.nextDoc(); doc != END; doc = postings.nextDoc()) {
        int freq = postings.freq();
        lengths[doc] = largest ? Math.max(lengths[doc], freq) : lengths[doc] + freq;
      }
      job.advance(each.docFreq());
    }
  }
}
