package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;

/** What becomes of each segment, in the source's order. */
final class UpdatePlan {
  final List<Segment> added = new ArrayList<>();
  private final List<Segment> stayed = new ArrayList<>();

  /** Counterparts that stay; null for segments that are added. */
  private final List<SegmentCommitInfo> places = new ArrayList<>();

  private final Map<String, int[]> deleted = new HashMap<>();
  boolean shared;

  /** Segments that another writer has written, or changed. */
  int foreign;

  void keep(Segment segment, SegmentCommitInfo counterpart, int[] documents) {
    stayed.add(segment);
    places.add(counterpart);
    deleted.put(counterpart.info.name, documents);
  }

  void add(Segment segment) {
    places.add(null);
    added.add(segment);
  }

  List<SegmentCommitInfo> kept() {
    List<SegmentCommitInfo> kept = new ArrayList<>(places);
    kept.removeIf(Objects::isNull);
    return kept;
  }

  /**
   * Postings that the segments which stayed were made of. Documents deleted before that are in the
   * source's counts still: they are taken to be as long as others.
   */
  long postingsOfStayed(String field) throws IOException {
    double postings = 0;
    List<SegmentCommitInfo> made = kept();
    for (int i = 0; i < made.size(); i++) {
      CodecReader source = stayed.get(i).reader;
      double share = (double) made.get(i).info.maxDoc() / source.maxDoc();
      postings += share * source.getSumDocFreq(field);
    }
    return Math.round(postings);
  }

  int deletions() {
    return deleted.values().stream().mapToInt(documents -> documents.length).sum();
  }

  int[] deletionsIn(String segment) {
    return deleted.getOrDefault(segment, new int[0]);
  }

  /** The segments of the new commit; one whose documents are all deleted is not among them. */
  List<SegmentCommitInfo> ordered(SegmentInfos written) {
    Map<String, SegmentCommitInfo> left = new HashMap<>();
    Deque<SegmentCommitInfo> fresh = new ArrayDeque<>();
    for (SegmentCommitInfo segment : written) {
      if (deleted.containsKey(segment.info.name)) {
        left.put(segment.info.name, segment);
      } else {
        fresh.add(segment); // a writer adds them in the order they are given in
      }
    }
    if (fresh.size() != added.size()) {
      throw new IllegalStateException(
          fresh.size() + " segments were written of " + added.size() + " added");
    }
    List<SegmentCommitInfo> ordered = new ArrayList<>();
    for (SegmentCommitInfo kept : places) {
      SegmentCommitInfo segment = kept == null ? fresh.poll() : left.get(kept.info.name);
      if (segment != null) {
        ordered.add(segment);
      }
    }
    return ordered;
  }
}
