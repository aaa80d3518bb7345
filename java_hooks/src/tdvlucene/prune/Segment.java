package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.util.Bits;
import tdvlucene.common.Segments;

/** A segment of the source. */
public final class Segment {
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

  /** Live documents whose entry is 0. */
  int countLiveZeros(int[] lengths) {
    int count = 0;
    for (int doc = 0; doc < lengths.length; doc++) {
      count += lengths[doc] == 0 && isLive(doc) ? 1 : 0;
    }
    return count;
  }

  boolean isLive(int doc) {
    return live == null || live.get(doc);
  }
}
