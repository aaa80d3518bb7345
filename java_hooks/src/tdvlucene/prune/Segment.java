package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.Bits;
import tdvlucene.common.Job;
import tdvlucene.common.NormKind;
import tdvlucene.common.Segments;
import tdvlucene.rules.PlannedField;

/** A segment of the source. */
public final class Segment {
  static final int END = DocIdSetIterator.NO_MORE_DOCS;

  final CodecReader reader;
  final SegmentCommitInfo info;
  final Bits live;

  /** Where its documents begin in the whole index. */
  public final int docBase;

  private Segment(LeafReaderContext context) {
    this.reader = (CodecReader) context.reader();
    this.info = Segments.segmentOf(context).getSegmentInfo();
    this.live = reader.getLiveDocs();
    this.docBase = context.docBase;
  }

  /** The segments of an index, in order. */
  public static List<Segment> of(IndexReader reader) {
    List<Segment> segments = new ArrayList<>();
    reader.leaves().forEach(leaf -> segments.add(new Segment(leaf)));
    return segments;
  }

  /** How many postings of a field there are, those of deleted documents included. */
  static long postings(List<Segment> segments, String field) throws IOException {
    long postings = 0;
    for (Segment segment : segments) {
      postings += segment.reader.getSumDocFreq(field);
    }
    return postings;
  }

  String name() {
    return info.info.name;
  }

  /**
   * The length of each document before pruning, deleted ones among them, as a rule reads it: what
   * its norm stands for, or, in a field without norms, the sum of its frequencies, and of weights
   * the largest.
   *
   * @param job is told the postings read
   */
  public int[] lengths(PlannedField target, Job job) throws IOException {
    int[] lengths = new int[reader.maxDoc()];
    boolean isImpact = target.norms == NormKind.IMPACT;
    if (target.norms != NormKind.NONE && !isImpact) {
      NumericDocValues each = reader.getNormValues(target.source);
      while (each != null && each.nextDoc() != END) {
        lengths[each.docID()] = target.norms.decode(each.longValue());
      }
      return lengths;
    }
    Terms terms = reader.terms(target.source);
    TermsEnum each = terms == null ? TermsEnum.EMPTY : terms.iterator();
    PostingsEnum postings = null;
    while (each.next() != null) {
      postings = each.postings(postings, PostingsEnum.FREQS);
      for (int doc = postings.nextDoc(); doc != END; doc = postings.nextDoc()) {
        int freq = postings.freq();
        lengths[doc] = isImpact ? Math.max(lengths[doc], freq) : lengths[doc] + freq;
      }
      job.advance(each.docFreq());
    }
    return lengths;
  }

  boolean isLive(int doc) {
    return live == null || live.get(doc);
  }
}
