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
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
  /**
   * What becomes of a segment of the source.
   *
   * @param kept its counterpart, which stays; null where the segment is pruned now
   * @param deleted documents of the counterpart that the source has deleted since
   */
  private record Fate(Segment source, SegmentCommitInfo kept, int[] deleted) {
    String name() {
      return kept.info.name;
    }
  }

  private IndexReader source;
  private final HeldIndex held;

  /** Whether the source lies where it lay: then it need not share a segment with what it was. */
  public boolean isAtHome;

  /** Segments that another writer has written, or changed. */
  private int foreign;

  /** Those of the source's segments that stay or are added, in its order. */
  private final List<Fate> fates = new ArrayList<>();

  /** @param held what {@link PruneJob} made of an earlier commit of the source */
  public UpdateJob(Index source, HeldIndex held, int threads) {
    super(source, held.index, threads);
    this.held = held;
    isShard = true; // the source may lack a field by now
    hasChanged = true;
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
    held.lock.ensureValid(); // somebody may have removed its file
    SegmentInfos last = SegmentInfos.readLatestCommit(held.folder);
    try (IndexReader reader = open(index);
        Pool pool = new Pool(threads)) {
      source = reader;
      requireLater(last);
      findCounterparts(last);
      List<Segment> added =
          fates.stream().filter(fate -> fate.kept == null).map(Fate::source).toList();
      CodecReader[] readers = decide(source, added, pool);
      SegmentInfos made = write(last, added, readers, pool);
      // A commit that was begun and not ended would stop this one.
      remove(name -> name.startsWith(IndexFileNames.PENDING_SEGMENTS));
      made.commit(held.folder);
      removeUnused(made);
      report(last, added.size(), made);
    }
    return report;
  }

  private void report(SegmentInfos last, int added, SegmentInfos made) throws IOException {
    report.put("segments", made.size());
    report.put("segments_added", added);
    report.put("segments_dropped", last.size() + added - made.size());
    report.put("segments_foreign", foreign);
    report.put("deletions", stayed().mapToInt(fate -> fate.deleted.length).sum());
    Map<String, Object> postings = new TreeMap<>();
    Map<String, Object> before = new TreeMap<>();
    try (DirectoryReader reader = DirectoryReader.open(held.folder)) {
      for (String field : fields()) {
        postings.put(field, reader.getSumDocFreq(field));
        before.put(field, postingsOfStayed(target(field).source));
      }
    }
    report.put("postings_in_all", postings);
    report.put("postings_before_of_stayed", before);
  }

  private Stream<Fate> stayed() {
    return fates.stream().filter(fate -> fate.kept != null);
  }

  /**
   * Postings that the segments which stayed were made of. Documents deleted before that are in the
   * source's counts still: they are taken to be as long as others.
   */
  private long postingsOfStayed(String field) throws IOException {
    double postings = 0;
    for (Fate fate : stayed().toList()) {
      CodecReader reader = fate.source.reader;
      double share = (double) fate.kept.info.maxDoc() / reader.maxDoc();
      postings += share * reader.getSumDocFreq(field);
    }
    return Math.round(postings);
  }

  /** Refuses a source that is not a later state of the one that was pruned. */
  private void requireLater(SegmentInfos last) {
    long before = Long.parseLong(last.getUserData().getOrDefault(VERSION, "0"));
    long now = Index.commitOf(source).getVersion();
    if (now < before) {
      throw new UserException(
          index + " is at version " + now + ", and " + held.index + " was made of version " + before
              + ": the source went back to an older commit, or is another index; prune it again");
    }
  }

  /** Finds the counterparts of the source's segments. */
  private void findCounterparts(SegmentInfos last) throws IOException {
    Map<String, Deque<SegmentCommitInfo>> known = new HashMap<>();
    WrittenSegments written = new WrittenSegments(last);
    for (SegmentCommitInfo segment : last) {
      if (written.has(segment)) {
        String origin = Origin.readFrom(segment.info).segment();
        known.computeIfAbsent(origin, name -> new ArrayDeque<>()).add(segment);
      } else {
        foreign++;
      }
    }
    boolean shared = false;
    String norms = requireNorms(source);
    for (Segment segment : Segment.of(source)) {
      Deque<SegmentCommitInfo> same = known.get(Origin.nameOf(segment.info, norms));
      SegmentCommitInfo counterpart = same == null ? null : same.poll();
      shared |= counterpart != null;
      int[] deleted = counterpart == null ? null : deletable(segment, counterpart);
      if (deleted != null || segment.reader.numDocs() > 0) {
        fates.add(new Fate(segment, deleted == null ? null : counterpart, deleted));
      }
    }
    if (!shared && last.size() > 0 && !isAtHome) {
      throw new UserException(
          index + " has no segment that " + held.index + " was made of: it is another index, or "
              + "all its segments were merged while it was moved; prune it again");
    }
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
      SegmentInfos last, List<Segment> added, CodecReader[] readers, Pool pool)
      throws IOException {
    IndexWriterConfig config = settings(source, added, pool);
    // What the last commit has stays until the new one is there.
    config.setIndexDeletionPolicy(NoDeletionPolicy.INSTANCE);
    List<SegmentCommitInfo> kept = stayed().map(Fate::kept).toList();
    SegmentInfos made;
    try (Directory hidden = new HeldIndex.Uncommitted(held.folder, last, kept);
        Directory aside = new WatchedDirectory(hidden, this)) {
      try (IndexWriter writer = new IndexWriter(aside, config)) {
        if (readers.length > 0) {
          writer.addIndexes(readers);
        }
        if (stayed().anyMatch(fate -> fate.deleted.length > 0)) {
          delete(writer);
        }
        writer.commit();
      }
      made = SegmentInfos.readLatestCommit(aside);
    }
    List<SegmentCommitInfo> ordered = ordered(made, added.size());
    made.clear();
    made.addAll(ordered);
    made.setUserData(userData(source, made), true);
    return made;
  }

  private void delete(IndexWriter writer) throws IOException {
    Map<String, int[]> deleted =
        stayed().collect(Collectors.toMap(Fate::name, Fate::deleted));
    try (DirectoryReader open = DirectoryReader.open(writer)) {
      for (LeafReaderContext leaf : open.leaves()) {
        String name = Index.segmentOf(leaf).getSegmentName();
        for (int doc : deleted.getOrDefault(name, new int[0])) {
          if (writer.tryDeleteDocument(leaf.reader(), doc) == -1) {
            throw new IllegalStateException("a segment was merged that nobody may merge");
          }
        }
      }
    }
  }

  /** The segments of the new commit; one whose documents are all deleted is not among them. */
  private List<SegmentCommitInfo> ordered(SegmentInfos written, int added) {
    Set<String> stayed = stayed().map(Fate::name).collect(Collectors.toSet());
    Map<String, SegmentCommitInfo> left = new HashMap<>();
    Deque<SegmentCommitInfo> fresh = new ArrayDeque<>();
    for (SegmentCommitInfo segment : written) {
      if (stayed.contains(segment.info.name)) {
        left.put(segment.info.name, segment);
      } else {
        fresh.add(segment); // a writer adds them in the order they are given in
      }
    }
    if (fresh.size() != added) {
      throw new IllegalStateException(
          fresh.size() + " segments were written of " + added + " added");
    }
    List<SegmentCommitInfo> ordered = new ArrayList<>();
    for (Fate fate : fates) {
      ordered.add(fate.kept == null ? fresh.poll() : left.get(fate.name()));
    }
    ordered.removeIf(Objects::isNull);
    return ordered;
  }

  /** Removes what no commit names: of the last one, and of updates that did not end. */
  private void removeUnused(SegmentInfos made) throws IOException {
    Collection<String> used = made.files(true);
    remove(name ->
        !used.contains(name)
            && (IndexFileNames.CODEC_FILE_PATTERN.matcher(name).matches()
                || name.startsWith(IndexFileNames.SEGMENTS)));
  }

  private void remove(Predicate<String> unwanted) throws IOException {
    for (String name : held.folder.listAll()) {
      if (unwanted.test(name)) {
        held.folder.deleteFile(name);
      }
    }
  }
}
