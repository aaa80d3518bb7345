package tdvlucene.common;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;

/**
 * The segments that a commit was pruned with: what its user data say of pruning holds of them alone.
 *
 * <p>Every writer of Lucene hands user data on to its own commits, whatever it adds, merges or
 * deletes. So the data name the segments, by the id that each keeps, and by its state, which
 * changes with deletions and with updates of doc values.
 */
public final class WrittenSegments {
  /** In the commit's user data: of each segment its id, its state and its documents. */
  public static final String RECORD = "tdv.segments";

  private record Segment(String state, long documents) {}

  private final Map<String, Segment> recorded = new HashMap<>();
  private final SegmentInfos commit;

  public WrittenSegments(SegmentInfos commit) {
    this.commit = commit;
    for (String entry : commit.getUserData().getOrDefault(RECORD, "").split(" ")) {
      if (!entry.isEmpty()) {
        String[] parts = entry.split("/");
        recorded.put(parts[0], new Segment(parts[1], Long.parseLong(parts[2])));
      }
    }
  }

  /** Describes segments that are written now, to be recorded. */
  public static String record(Iterable<SegmentCommitInfo> segments) {
    return StreamSupport.stream(segments.spliterator(), false)
        .map(each -> id(each) + "/" + hex(each.getId()) + "/" + documents(each))
        .collect(Collectors.joining(" "));
  }

  /** Whether a segment is as it was written. */
  public boolean has(SegmentCommitInfo segment) {
    Segment known = recorded.get(id(segment));
    return known != null && known.state.equals(hex(segment.getId()));
  }

  /**
   * Says what another writer did since: {@code appended}, {@code merged} or {@code changed}, the last of
   * segments that lost documents or got other doc values; how many {@code segments} of the commit
   * are others, with how many {@code documents}; and how many documents it has {@code fewer} than
   * it was written with. Empty where it did nothing, or nothing is recorded. Merged segments that
   * hold no more documents than were written may hold others than those all the same.
   */
  public Map<String, Object> since() {
    List<SegmentCommitInfo> unknown = new ArrayList<>();
    int changed = 0;
    long fewer = recorded.values().stream().mapToLong(Segment::documents).sum();
    for (SegmentCommitInfo segment : commit) {
      fewer -= documents(segment);
      changed += has(segment) ? 0 : 1;
      if (!recorded.containsKey(id(segment))) {
        unknown.add(segment);
      }
    }
    Map<String, Object> since = new TreeMap<>();
    if (!commit.getUserData().containsKey(RECORD) || changed == 0 && fewer == 0) {
      return since;
    }
    Set<String> there =
        StreamSupport.stream(commit.spliterator(), false)
            .map(WrittenSegments::id).collect(Collectors.toSet());
    boolean merged =
        fewer >= 0
            && !there.containsAll(recorded.keySet())
            && unknown.stream().allMatch(WrittenSegments::isMerged);
    since.put("did", unknown.isEmpty() ? "changed" : merged ? "merged" : "appended");
    since.put("segments", unknown.isEmpty() ? changed : unknown.size());
    since.put("documents", unknown.stream().mapToLong(WrittenSegments::documents).sum());
    since.put("fewer", Math.max(0, fewer));
    return since;
  }

  private static boolean isMerged(SegmentCommitInfo segment) {
    return "merge".equals(segment.info.getDiagnostics().get("source"));
  }

  private static long documents(SegmentCommitInfo segment) {
    return segment.info.maxDoc() - segment.getDelCount() - segment.getSoftDelCount();
  }

  private static String id(SegmentCommitInfo segment) {
    return hex(segment.info.getId());
  }

  /** Commits of Lucene before 8.6 have no ids of states. */
  private static String hex(byte[] id) {
    return id == null ? "none" : HexFormat.of().formatHex(id);
  }
}
