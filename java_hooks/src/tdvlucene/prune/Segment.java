package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.Terms;
import org.apache.lucene.util.Bits;
import tdvlucene.common.Segments;

/** A segment of the source, and the numbers of its documents among the live ones. */
public final class Segment {
  final CodecReader reader;
  final SegmentCommitInfo info;
  final Bits live;

  /** Live documents in the segments before this one. */
  private final int base;

  /** Live documents before each document of this segment; null when none is deleted. */
  private final int[] liveBefore;

  private Segment(LeafReaderContext context, int base) {
    this.reader = (CodecReader) context.reader();
    this.info = Segments.segmentOf(context).getSegmentInfo();
    this.live = reader.getLiveDocs();
    this.base = base;
    this.liveBefore = live == null ? null : new int[reader.maxDoc()];
    int next = 0;
    for (int doc = 0; live != null && doc < liveBefore.length; doc++) {
      liveBefore[doc] = next;
      next += live.get(doc) ? 1 : 0;
    }
  }

  /** The segments of an index, in order. */
  public static List<Segment> of(DirectoryReader reader) {
    List<Segment> segments = new ArrayList<>();
    int base = 0;
    for (LeafReaderContext leaf : reader.leaves()) {
      segments.add(new Segment(leaf, base));
      base += leaf.reader().numDocs();
    }
    return segments;
  }

  String name() {
    return info.info.name;
  }

  /** Postings of a field, those of deleted documents among them. */
  long postings(String field) throws IOException {
    Terms terms = reader.terms(field);
    return terms == null ? 0 : terms.getSumDocFreq();
  }

  /** Live documents whose entry is 0. */
  int countLiveZeros(int[] lengths) {
    int count = 0;
    for (int doc = 0; doc < lengths.length; doc++) {
      count += lengths[doc] == 0 && isLive(doc) ? 1 : 0;
    }
    return count;
  }

  public boolean isLive(int doc) {
    return live == null || live.get(doc);
  }

  /** A live document's number in the extracted matrix and in the rewritten index. */
  public int number(int doc) {
    return base + (liveBefore == null ? doc : liveBefore[doc]);
  }
}
