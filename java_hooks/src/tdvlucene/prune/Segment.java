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
import org.apache.lucene.util.Bits;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.NormKind;
import tdvlucene.rules.PlannedField;

/** A segment of the source. */
public final class Segment {
  static final int END = FieldPostings.END;

  final CodecReader reader;
  final SegmentCommitInfo info;
  final Bits live;

  /** Where it is in the whole index. */
  public final LeafReaderContext leaf;

  private Segment(LeafReaderContext leaf) {
    this.reader = (CodecReader) leaf.reader();
    this.info = Index.segmentOf(leaf).getSegmentInfo();
    this.live = reader.getLiveDocs();
    this.leaf = leaf;
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
   * the largest: see {@link tdvlucene.rules.TermRule#lengthByPostings}.
   *
   * @param job is told the postings read
   */
  public int[] lengths(PlannedField target, Job job) throws IOException {
    NormKind norms = target.norms;
    if (norms == NormKind.IMPACT) {
      return largest(target, job);
    }
    if (norms == NormKind.NONE) {
      return tokens(target.source, job);
    }
    int[] lengths = new int[reader.maxDoc()];
    NumericDocValues each = reader.getNormValues(target.source);
    while (each != null && each.nextDoc() != END) {
      lengths[each.docID()] = norms.decode(each.longValue());
    }
    return lengths;
  }

  /** The tokens of each document, deleted ones among them. */
  public int[] tokens(String field, Job job) throws IOException {
    int[] tokens = new int[reader.maxDoc()];
    each(field, job, (doc, freq) -> tokens[doc] += freq);
    return tokens;
  }

  private int[] largest(PlannedField target, Job job) throws IOException {
    int[] largest = new int[reader.maxDoc()];
    int[] postings = new int[reader.maxDoc()];
    each(
        target.source, job,
        (doc, freq) -> {
          largest[doc] = Math.max(largest[doc], freq);
          postings[doc]++;
        });
    for (int doc = 0; target.rule.lengthByPostings() && doc < largest.length; doc++) {
      largest[doc] = (int) (largest[doc] * Math.sqrt(postings[doc]));
    }
    return largest;
  }

  private interface Posting {
    void is(int doc, int freq);
  }

  private void each(String field, Job job, Posting found) throws IOException {
    FieldPostings postings = new FieldPostings(reader, field);
    while (postings.nextTerm() != null) {
      postings.readPostings(PostingsEnum.FREQS);
      for (int doc = postings.next(); doc != END; doc = postings.next()) {
        found.is(doc, postings.freq());
      }
      job.advance(postings.docFreq());
    }
  }

  boolean isLive(int doc) {
    return live == null || live.get(doc);
  }
}
