package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoDeletionPolicy;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.util.Bits;
import tdvlucene.common.Index;
import tdvlucene.common.Pool;
import tdvlucene.common.Segments;
import tdvlucene.common.UserException;
import tdvlucene.common.WrittenSegments;

/**
 * Makes a pruned index follow its source, which has changed since.
 *
 * <p>Segments that the pruned index has already stay as they are; new ones are pruned and added,
 * those that the source has no more are dropped, and deletions since are carried over. Which
 * segment belongs to which says the {@link Origin} of each. Segments that another writer added,
 * merged or changed are dropped, too: all documents come from the source. The result is one new
 * commit: until then, and whatever fails before, the index is the old one. Readers of the old
 * commit go on.
 */
public final class UpdateJob extends PruneJob {
  private IndexReader source;
  private final HeldIndex held;
  private boolean isAtHome;

  /** @param held what {@link PruneJob} made of an earlier commit of the source */
  public UpdateJob(Index source, HeldIndex held, int threads) {
    super(source, held.index, threads);
    this.held = held;
    isShard(); // the source may lack a field by now
    hasChanged();
  }

  /** The source lies where it lay: then it need not share a segment with what it was. */
  public void isAtHome() {
    isAtHome = true;
  }

  /**
   * JSON: as of {@link PruneJob}, of the segments added; how many there are, were added and dropped,
   * and of the latter were another writer's; the deletions carried over; by field the postings of
   * the whole, and those that the segments that stayed were made of. Of segments that stayed,
   * documents deleted since count.
   */
  @Override
  protected Object run() throws IOException {
    reads(new Index(new String[] {held.index}, null));
    held.requireHeld();
    SegmentInfos last = SegmentInfos.readLatestCommit(held.folder);
    try (IndexReader reader = open(index);
        Pool pool = new Pool(threads)) {
      source = reader;
      requireLater(last);
      UpdatePlan plan = plan(last);
      CodecReader[] readers = decide(source, plan.added, pool);
      SegmentInfos made = write(last, plan, readers, pool);
      removePending();
      made.commit(held.folder);
      removeUnused(made);
      report(last, plan, made);
    }
    return report;
  }

  private void report(SegmentInfos last, UpdatePlan plan, SegmentInfos made) throws IOException {
    report.put("segments", made.size());
    report.put("segments_added", plan.added.size());
    report.put("segments_dropped", last.size() + plan.added.size() - made.size());
    report.put("segments_foreign", plan.foreign);
    report.put("deletions", plan.deletions());
    Map<String, Object> postings = new TreeMap<>();
    Map<String, Object> before = new TreeMap<>();
    try (DirectoryReader reader = DirectoryReader.open(held.folder)) {
      for (String field : fields()) {
        postings.put(field, reader.getSumDocFreq(field));
        before.put(field, plan.postingsOfStayed(target(field).source));
      }
    }
    report.put("postings_in_all", postings);
    report.put("postings_before_of_stayed", before);
  }

  /** Refuses a source that is not a later state of the one that was pruned. */
  private void requireLater(SegmentInfos last) {
    long before = Long.parseLong(last.getUserData().getOrDefault(VERSION, "0"));
    long now = Segments.commitOf(source).getVersion();
    if (now < before) {
      throw new UserException(
          index + " is at version " + now + ", and " + held.index + " was made of version " + before
              + ": the source went back to an older commit, or is another index; prune it again");
    }
  }

  /** Finds the counterparts of the source's segments. */
  private UpdatePlan plan(SegmentInfos last) throws IOException {
    UpdatePlan plan = new UpdatePlan();
    Map<String, Deque<SegmentCommitInfo>> known = new HashMap<>();
    WrittenSegments written = new WrittenSegments(last);
    for (SegmentCommitInfo segment : last) {
      if (written.has(segment)) {
        String origin = Origin.readFrom(segment.info).segment();
        known.computeIfAbsent(origin, name -> new ArrayDeque<>()).add(segment);
      } else {
        plan.foreign++;
      }
    }
    String norms = requireNorms(source);
    for (Segment segment : Segment.of(source)) {
      Deque<SegmentCommitInfo> same = known.get(Origin.nameOf(segment.info, norms));
      SegmentCommitInfo counterpart = same == null ? null : same.poll();
      plan.shared |= counterpart != null;
      int[] documents = counterpart == null ? null : deletable(segment, counterpart);
      if (documents != null) {
        plan.keep(segment, counterpart, documents);
      } else if (segment.reader.numDocs() > 0) {
        plan.add(segment);
      }
    }
    if (!plan.shared && last.size() > 0 && !isAtHome) {
      throw new UserException(
          index + " has no segment that " + held.index + " was made of: it is another index, or "
              + "all its segments were merged while it was moved; prune it again");
    }
    return plan;
  }

  /**
   * The documents of the counterpart that the source has deleted since; null where it lacks one
   * that the source has again, as after an undone soft deletion: the segment is pruned again.
   */
  private int[] deletable(Segment segment, SegmentCommitInfo counterpart) throws IOException {
    int count = counterpart.info.maxDoc();
    Origin origin = Origin.readFrom(counterpart.info);
    int[] documents = origin.documents(segment.reader.maxDoc(), count);
    Bits live = null;
    if (counterpart.hasDeletions()) {
      live = counterpart.info.getCodec().liveDocsFormat()
          .readLiveDocs(counterpart.info.dir, counterpart, IOContext.DEFAULT);
    }
    int liveThere = 0;
    int next = 0;
    int[] gone = new int[count];
    for (int doc = 0; doc < count; doc++) {
      boolean isThere = live == null || live.get(doc);
      boolean isLive = segment.isLive(documents[doc]);
      if (isLive && !isThere) {
        return null;
      }
      liveThere += isLive ? 1 : 0;
      if (isThere && !isLive) {
        gone[next++] = doc;
      }
    }
    return liveThere == segment.reader.numDocs() ? Arrays.copyOf(gone, next) : null;
  }

  /** Writes all but the commit, which is returned. */
  private SegmentInfos write(
      SegmentInfos last, UpdatePlan plan, CodecReader[] readers, Pool pool) throws IOException {
    IndexWriterConfig config = settings(source, plan.added, pool);
    // What the last commit has stays until the new one is there.
    config.setIndexDeletionPolicy(NoDeletionPolicy.INSTANCE);
    SegmentInfos made;
    try (Directory aside = new WatchedDirectory(new HeldIndex.Uncommitted(held.folder, last, plan.kept()), this)) {
      try (IndexWriter writer = new IndexWriter(aside, config)) {
        if (readers.length > 0) {
          writer.addIndexes(readers);
        }
        if (plan.deletions() > 0) {
          delete(writer, plan);
        }
        writer.commit();
      }
      made = SegmentInfos.readLatestCommit(aside);
    }
    List<SegmentCommitInfo> ordered = plan.ordered(made);
    made.clear();
    made.addAll(ordered);
    made.setUserData(userData(source, made), true);
    return made;
  }

  private static void delete(IndexWriter writer, UpdatePlan plan) throws IOException {
    try (DirectoryReader open = DirectoryReader.open(writer)) {
      for (LeafReaderContext leaf : open.leaves()) {
        for (int doc : plan.deletionsIn(Segments.segmentOf(leaf).getSegmentName())) {
          if (writer.tryDeleteDocument(leaf.reader(), doc) == -1) {
            throw new IllegalStateException("a segment was merged that nobody may merge");
          }
        }
      }
    }
  }

  /** Removes commits that were begun and not ended: a file of that name would stop the next one. */
  private void removePending() throws IOException {
    for (String name : held.folder.listAll()) {
      if (name.startsWith(IndexFileNames.PENDING_SEGMENTS)) {
        held.folder.deleteFile(name);
      }
    }
  }

  /** Removes what no commit names: of the last one, and of updates that did not end. */
  private void removeUnused(SegmentInfos made) throws IOException {
    Collection<String> used = made.files(true);
    for (String name : held.folder.listAll()) {
      boolean isOfLucene =
          IndexFileNames.CODEC_FILE_PATTERN.matcher(name).matches()
              || name.startsWith(IndexFileNames.SEGMENTS);
      if (isOfLucene && !used.contains(name)) {
        held.folder.deleteFile(name);
      }
    }
  }

  /** The fate of each segment, in the source's order. */
  private static final class UpdatePlan {
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
}
