package tdvlucene.prune;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.NoLockFactory;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.Index;
import tdvlucene.common.IndexFiles;
import tdvlucene.common.Json;
import tdvlucene.common.Lucene;
import tdvlucene.common.Pool;
import tdvlucene.common.WrittenSegments;
import tdvlucene.rules.FieldsJob;
import tdvlucene.rules.PlannedField;
import tdvlucene.rules.TermRule;

/**
 * Writes a new index in which a {@link TermRule} has decided the frequencies of one or more
 * fields. The counts of the first are reported on top.
 *
 * <p>Two passes over each field: a {@link Survey} computes the document lengths, then each
 * segment, wrapped in a {@link PrunedReader} for each field, is merged into a segment of its own;
 * segments are merged in parallel. Document order, stored fields, doc values, points and other
 * fields stay; deleted documents are dropped, soft-deleted ones too. Memory: about twelve bytes for
 * each document and four for each term; for term vectors also the vocabulary.
 */
public class PruneJob extends FieldsJob {
  static final String VERSION = "tdv.source_version";

  final Index index;
  final int threads;
  private final Path output;

  /** Whether to make one segment of all, instead of one of each. */
  public boolean oneSegment;

  /** Whether the index has changed since the tables were made: it may lack terms that they have. */
  public boolean hasChanged;

  /** Whether only to count, and to write nothing. */
  public boolean countsOnly;

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
    for (PlannedField target : targets) {
      target.readNorms(reader, index, isShard);
      kinds.append(target.field).append(' ').append(target.norms).append('\n');
    }
    norms = kinds.toString();
    return norms;
  }

  /** Decides what segments become, once norms are known; counts, too. */
  final CodecReader[] decide(IndexReader reader, List<Segment> segments, Pool pool)
      throws IOException {
    deleted = Index.countDeleted(reader);
    CodecReader[] readers =
        segments.stream().map(segment -> segment.reader).toArray(CodecReader[]::new);
    long toWrite = 0;
    List<PlannedField> inner = new ArrayList<>(targets);
    // New fields read the source's postings: they come before the field that replaces those.
    inner.sort(Comparator.comparing(target -> !target.isNew()));
    for (PlannedField target : inner) {
      FieldInfo info = FieldInfos.getMergedFieldInfos(reader).fieldInfo(target.source);
      boolean vectors = info != null && !target.isNew() && Lucene.hasTermVectors(info);
      for (Segment segment : vectors ? segments : List.<Segment>of()) {
        target.requirePositions(segment.reader);
      }
      long toRead = target.passes() * Segment.postings(segments, target.source);
      phase("computing document lengths", toRead);
      Survey survey = new Survey(this, pool, target);
      List<Pruning> prunings = survey.read(segments);
      if (!isShard && !hasChanged) {
        survey.requireAllSeen();
      }
      report(target, counts(survey, target, prunings), segments.size());
      toWrite += survey.postingsToRead.sum() + (vectors ? survey.postingsAfter.sum() : 0);
      for (int i = 0; i < readers.length; i++) {
        readers[i] = new PrunedReader(readers[i], prunings.get(i));
      }
    }
    phase("writing postings", toWrite);
    return readers;
  }

  private Map<String, Object> counts(
      Survey survey, PlannedField target, List<Pruning> prunings) {
    int emptied = prunings.stream().mapToInt(Pruning::countEmptied).sum();
    int live = prunings.stream().mapToInt(each -> each.segment().reader.numDocs()).sum();
    Map<String, Object> counts = new TreeMap<>();
    counts.put("postings_before", survey.postingsBefore.sum());
    counts.put("postings", survey.postingsAfter.sum());
    counts.put("terms_before", isShard ? survey.seen.cardinality() : target.rule.table().size());
    counts.put("terms", survey.kept.cardinality());
    counts.put("tokens", survey.tokensAfter.sum());
    counts.put("documents_without_terms", emptied);
    counts.put("documents_with_terms", live - emptied);
    if (target.isBaked()) {
      double mean = live == emptied ? 1 : (double) survey.tokensAfter.sum() / (live - emptied);
      BakedNorms baked = target.bakeFor(target.average == 0 ? mean : target.average);
      counts.put("norms", Pruning.offs(baked, prunings));
    }
    counts.put("norm_kind", target.norms.toString());
    return counts;
  }

  private void report(PlannedField target, Map<String, Object> counts, int segments) {
    long before = (long) counts.get("postings_before");
    long after = (long) counts.get("postings");
    String reduction = Double.toString(before == 0 ? 0 : 1 - (double) after / before);
    boolean first = target == targets.get(0);
    if (first) {
      report.putAll(counts);
      report.put("segments", oneSegment ? 1 : segments);
      report.put("deleted_left_out", deleted);
    } else {
      others.put(target.field, counts);
      report.put("fields", others);
    }
    String prefix = first ? "tdv." : "tdv.fields." + target.field + ".";
    // An update prunes some segments only: what is recorded of the whole is said to it.
    userData.putIfAbsent(prefix + "reduction", reduction);
    if (target.isBaked()) {
      userData.put(prefix + BakedNorms.RECORD, target.norms.name()); // of the whole source
      userData.putIfAbsent(prefix + "baked.average_length", Double.toString(target.average));
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
        writer.setLiveCommitData(userData(source, Index.segmentsOf(written)).entrySet());
      }
      writer.commit();
      try (DirectoryReader made = DirectoryReader.open(folder)) {
        report.put("first_vectors_lost", hasVectors(source) && !hasVectors(made));
      }
    }
    report.put("bytes", IndexFiles.of(output.toString()).bytes());
  }

  /** Whether the first document has term vectors: of no other Pyserini's set_rm3 asks. */
  private static boolean hasVectors(IndexReader reader) throws IOException {
    return reader.maxDoc() > 0 && reader.termVectors().get(0) != null;
  }

  /**
   * How pruned segments are written, which are added in the order of the source's. Compares their
   * checksums, for a merge does not.
   */
  final IndexWriterConfig settings(IndexReader source, List<Segment> segments, Pool pool)
      throws IOException {
    Index.checkIntegrity(segments.stream().map(segment -> segment.leaf).toList(), this, pool);
    List<Origin> origins = new ArrayList<>();
    for (Segment segment : segments) {
      origins.add(Origin.of(segment, norms));
    }
    IndexWriterConfig config = SourceSettings.of(
            source,
            targets.stream().filter(PlannedField::isNew).map(target -> target.field)
                .collect(Collectors.toSet()));
    config.setMergePolicy(new SourceSettings.Merges(origins, oneSegment));
    config.setMergeScheduler(new SourceSettings.Merges.Scheduler(pool));
    return config;
  }

  /** Adds to what the source's commit says how these segments were pruned. */
  final Map<String, String> userData(IndexReader source, Iterable<SegmentCommitInfo> written)
      throws IOException {
    Map<String, String> all = new HashMap<>(Index.userData(source));
    // Of fields pruned earlier, what holds of them still is among what is put now.
    all.keySet().removeIf(key -> key.startsWith("tdv.") && !key.startsWith("tdv.fields."));
    for (PlannedField target : targets) {
      all.keySet().removeIf(key -> key.startsWith("tdv.fields." + target.field + "."));
    }
    all.putAll(userData);
    // Of an index, the number of changes never falls: see UpdateJob.
    all.put(VERSION, Long.toString(Index.commitOf(source).getVersion()));
    all.put(WrittenSegments.RECORD, WrittenSegments.record(written));
    return all;
  }

  /**
   * Commits entries beside those that there are; segments stay as they are.
   *
   * @param index a new one, which nobody else writes to: no lock is left in its folder
   * @param entries a JSON array of [name, value]
   */
  public static void addUserData(String index, String entries) throws IOException {
    Map<String, String> all = new HashMap<>(Index.lastCommit(index).getUserData());
    for (List<String> entry : Json.parseRows(entries)) {
      all.put(entry.get(0), entry.get(1));
    }
    IndexWriterConfig config = new IndexWriterConfig(null);
    config.setOpenMode(IndexWriterConfig.OpenMode.APPEND);
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    try (Directory folder = FSDirectory.open(Paths.get(index), NoLockFactory.INSTANCE);
        IndexWriter writer = new IndexWriter(folder, config)) {
      writer.setLiveCommitData(all.entrySet());
      writer.commit();
    }
  }
}
