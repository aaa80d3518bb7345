package tdvlucene.prune;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.NoLockFactory;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.FileSizes;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.Job;
import tdvlucene.common.Lucene;
import tdvlucene.common.Pool;
import tdvlucene.common.Segments;
import tdvlucene.common.WrittenSegments;
import tdvlucene.rules.FirstPositions;
import tdvlucene.rules.PostingRule;
import tdvlucene.rules.TermTable;

/**
 * Writes a new index in which a {@link PostingRule} has decided the frequencies of one or more
 * fields.
 *
 * <p>Two passes over each field: a {@link Survey} computes the document lengths, then each
 * segment, wrapped in a {@link PrunedReader} for each field, is merged into a segment of its own;
 * segments are merged in parallel. Document order, stored fields, doc values, points and other
 * fields stay; deleted documents are dropped, soft-deleted ones too. Memory: about twelve bytes for
 * each document and four for each term; for term vectors also the vocabulary.
 */
public class PruneJob extends Job {
  static final String VERSION = "tdv.source_version";

  final Index index;
  final int threads;
  private final List<Target> targets = new ArrayList<>();
  private final Path output;
  private boolean oneSegment;
  private boolean isShard;
  private boolean hasChanged;
  private boolean countsOnly;
  private final Map<String, String> userData = new HashMap<>();
  final Map<String, Object> report = new TreeMap<>();
  private final Map<String, Object> others = new TreeMap<>();
  private int deleted;
  private String norms;

  /** @param output an existing, empty folder */
  public PruneJob(Index index, String output, int threads) {
    this.index = index;
    this.output = Paths.get(output);
    this.threads = threads;
  }

  /**
   * Prunes a field; at least one is to be added, and the counts of the first are reported on top.
   *
   * @param table the field's vocabulary, which must be that of the index
   */
  public void addField(String field, TermTable table, PostingRule rule) {
    targets.add(new Target(field, table, rule));
  }

  /** The index is a part of a larger one, whose vocabulary the tables have. */
  public void isShard() {
    isShard = true;
  }

  /** The index has changed since the tables were made: it may lack terms that they have. */
  public void hasChanged() {
    hasChanged = true;
  }

  /** Makes one segment of all, instead of one of each. */
  public void mergeToOneSegment() {
    oneSegment = true;
  }

  /**
   * Writes norms of the field added last for a searcher with other parameters of BM25 than those
   * to rank with; see {@link BakedNorms}. The field must have norms.
   *
   * @param average the average length in the whole index where this one is a shard; 0 to count it
   */
  public void bake(
      BakedNorms.Parameters held, BakedNorms.Parameters searched, double average) {
    Target target = targets.get(targets.size() - 1);
    target.held = held;
    target.searched = searched;
    target.average = average;
  }

  /** Only counts, and writes nothing. */
  public void countOnly() {
    countsOnly = true;
  }

  /** Adds an entry to the user data of the new index's commit, beside those of the source's. */
  public void putUserData(String key, String value) {
    userData.put(key, value);
  }

  /**
   * JSON: postings and terms before and after; tokens, documents and emptied ones after; of the
   * first field, and under its name in {@code fields} of every other.
   */
  @Override
  protected Object run() throws IOException {
    try (IndexReader reader = openUnlocked(index);
        Pool pool = new Pool(threads)) {
      requireNorms(reader);
      List<Segment> segments = Segment.of(reader);
      CodecReader[] readers = decide(reader, segments, pool);
      if (!countsOnly) {
        write(reader, segments, readers, pool);
      }
    }
    return report;
  }

  /** The fields to prune. */
  final List<String> fields() {
    return targets.stream().map(target -> target.field).toList();
  }

  /** Refuses fields that cannot be pruned; tells the kind of norms that all others have. */
  final String requireNorms(IndexReader reader) throws IOException {
    StringBuilder kinds = new StringBuilder();
    for (Target target : targets) {
      target.norms =
          PrunableField.requireNorms(reader, index, target.field, target.rule, isShard);
      kinds.append(target.field).append(' ').append(target.norms).append('\n');
    }
    norms = kinds.toString();
    return norms;
  }

  /** What segments of an opened index are to become, once norms are known; counts, too. */
  final CodecReader[] decide(IndexReader reader, List<Segment> segments, Pool pool)
      throws IOException {
    deleted = Segments.countDeleted(reader);
    CodecReader[] readers =
        segments.stream().map(segment -> segment.reader).toArray(CodecReader[]::new);
    long toWrite = 0;
    for (Target target : targets) {
      FieldInfo info = FieldInfos.getMergedFieldInfos(reader).fieldInfo(target.field);
      boolean vectors = info != null && Lucene.hasTermVectors(info);
      if (vectors && target.rule.readsPositions()) {
        for (Segment segment : segments) {
          FirstPositions.requireInVectors(segment.reader, segment.live, target.field);
        }
      }
      toWrite += survey(segments, target, vectors, pool);
      for (int i = 0; i < readers.length; i++) {
        readers[i] = new PrunedReader(readers[i], target.prunings.get(i));
      }
    }
    phase("writing postings", toWrite);
    return readers;
  }

  /** Decides on a field in every segment; returns how many postings are there to write. */
  private long survey(List<Segment> segments, Target target, boolean vectors, Pool pool)
      throws IOException {
    phase("computing document lengths", Segment.postings(segments, target.field));
    Survey survey = new Survey(this, pool, target.field, target.table, target.rule);
    int emptied = 0;
    for (Segment segment : segments) {
      int[] before =
          target.rule.readsLengths()
              ? OriginalLengths.of(segment, target.field, target.norms, this)
              : null;
      int[] after = survey.lengths(segment, before);
      emptied += segment.countLiveZeros(after);
      target.prunings.add(
          new Pruning(
              this, segment, target.field, target.table, target.rule, target::norm, before, after));
    }
    if (!isShard && !hasChanged) {
      survey.requireAllSeen();
    }
    Map<String, Object> counts = counts(survey, target, emptied, segments);
    if (target.held != null) {
      target.bake(survey.tokensAfter.sum(), (int) counts.get("documents_with_terms"));
      counts.put("norms", target.offs(segments));
    }
    counts.put("norm_kind", target.norms.toString());
    report(counts, target, segments);
    return survey.postingsToRead.sum() + (vectors ? survey.postingsAfter.sum() : 0);
  }

  private Map<String, Object> counts(
      Survey survey, Target target, int emptied, List<Segment> segments) {
    int live = segments.stream().mapToInt(segment -> segment.reader.numDocs()).sum();
    Map<String, Object> counts = new TreeMap<>();
    counts.put("postings_before", survey.postingsBefore.sum());
    counts.put("postings", survey.postingsAfter.sum());
    counts.put("terms_before", isShard ? survey.termsSeen() : target.table.size());
    counts.put("terms", survey.termsAfter());
    counts.put("tokens", survey.tokensAfter.sum());
    counts.put("documents_without_terms", emptied);
    counts.put("documents_with_terms", live - emptied);
    return counts;
  }

  private void report(Map<String, Object> counts, Target target, List<Segment> segments) {
    long before = (long) counts.get("postings_before");
    long after = (long) counts.get("postings");
    String reduction = Double.toString(before == 0 ? 0 : 1 - (double) after / before);
    boolean first = target == targets.get(0);
    if (first) {
      report.putAll(counts);
      report.put("segments", oneSegment ? 1 : segments.size());
      report.put("deleted_left_out", deleted);
    } else {
      others.put(target.field, counts);
      report.put("fields", others);
    }
    String prefix = first ? "tdv." : "tdv.fields." + target.field + ".";
    // An update prunes some segments only: what is recorded of the whole is said to it.
    userData.putIfAbsent(prefix + "reduction", reduction);
    if (target.baked != null) {
      userData.put(prefix + BakedNorms.RECORD, target.norms.name()); // of the whole source
      userData.putIfAbsent(
          prefix + "baked.average_length", Double.toString(target.average));
    }
  }

  private void write(
      IndexReader source, List<Segment> segments, CodecReader[] readers, Pool pool)
      throws IOException {
    // No lock: the folder is ours alone until it is renamed into place.
    try (Directory folder =
            new WatchedDirectory(FSDirectory.open(output, NoLockFactory.INSTANCE), this);
        IndexWriter writer = new IndexWriter(folder, settings(source, segments, pool))) {
      if (readers.length > 0) { // a shard may be empty
        writer.addIndexes(readers);
      }
      try (DirectoryReader written = DirectoryReader.open(writer)) {
        writer.setLiveCommitData(userData(source, Segments.of(written)).entrySet());
      }
      writer.commit();
      try (DirectoryReader made = DirectoryReader.open(folder)) {
        report.put("bytes", FileSizes.sum(made));
      }
    }
  }

  /** How pruned segments are written, which are added in the order of the source's. */
  final IndexWriterConfig settings(IndexReader source, List<Segment> segments, Pool pool)
      throws IOException {
    List<Origin> origins = new ArrayList<>();
    for (Segment segment : segments) {
      origins.add(Origin.of(segment, norms));
    }
    IndexWriterConfig config = SourceSettings.of(source);
    config.setMergePolicy(new SegmentMerges(origins, oneSegment));
    config.setMergeScheduler(new PooledMerges(pool));
    return config;
  }

  /** What the new commit says: what the source's does, and how these segments were pruned. */
  final Map<String, String> userData(IndexReader source, Iterable<SegmentCommitInfo> written)
      throws IOException {
    Map<String, String> all = new HashMap<>(Indexes.userData(source));
    // Of fields pruned earlier, what holds of them still is among what is put now.
    all.keySet().removeIf(key -> key.startsWith("tdv.") && !key.startsWith("tdv.fields."));
    for (Target target : targets) {
      all.keySet().removeIf(key -> key.startsWith("tdv.fields." + target.field + "."));
    }
    all.putAll(userData);
    // Of an index, the number of changes never falls: see UpdateJob.
    all.put(VERSION, Long.toString(Segments.commitOf(source).getVersion()));
    all.put(WrittenSegments.RECORD, WrittenSegments.record(written));
    return all;
  }
}
