package tdvlucene.index;

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
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.NoLockFactory;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.Lucene;

/**
 * Writes a new index in which one field's postings have the frequencies a {@link PostingRule}
 * gives.
 *
 * <p>Two passes over the field: a {@link Survey} for the document lengths, then a merge of each
 * segment, wrapped in a {@link PrunedReader}, into a segment of its own, the segments side by
 * side. Document order, stored fields, doc values, points and other fields stay; deleted documents
 * go. Soft-deleted documents stay, and stay soft-deleted: to Anserini's readers they are documents
 * like any other. Memory: about twelve bytes a document and four a term; for term vectors the
 * vocabulary besides, and up to a quarter of the heap.
 */
public final class PruneJob extends Job {
  /** More in memory would save nothing: the passes over the postings are few by then. */
  private static final int MOST_IN_MEMORY = 1 << 27;

  private final String index;
  private final String field;
  private final TermTable table;
  private final PostingRule rule;
  private final Path output;
  private final int threads;
  private int postingsInMemory;
  private WeightedLengths weighted;
  private StoredValues values;
  private final Map<String, String> userData = new HashMap<>();
  private String result = "";

  /**
   * @param table the field's vocabulary, which must be that of the index
   * @param output an existing, empty folder
   */
  public PruneJob(
      String index, String field, TermTable table, PostingRule rule, String output, int threads) {
    this.index = index;
    this.field = field;
    this.table = table;
    this.rule = rule;
    this.output = Paths.get(output);
    this.threads = threads;
    this.postingsInMemory = affordablePostings(threads);
  }

  /** Postings a thread may hold to make term vectors of; by default a share of the heap. */
  public void setPostingsInMemory(int postings) {
    postingsInMemory = postings;
  }

  /**
   * Leaves the weighting to the search: the index gets the table's values, and document lengths are
   * those of weighted frequencies. For rules that keep frequencies.
   *
   * @param mean about the mean value of the tokens that stay
   */
  public void keepValues(double mean) {
    weighted = new WeightedLengths(table.tdv(), mean);
  }

  /** Adds an entry to the user data of the new index's commit, beside those of the source's. */
  public void putUserData(String key, String value) {
    userData.put(key, value);
  }

  /** JSON: postings and terms before and after; tokens, documents and emptied ones after. */
  @Override
  public String result() {
    return result;
  }

  @Override
  protected void run() throws IOException {
    try (DirectoryReader reader = Indexes.openUnlocked(index);
        Pool pool = new Pool(threads)) {
      FieldInfo info = Indexes.requireFrequencies(reader, index, field);
      NormKind norms = Indexes.requireKnownNorms(reader, index, field);
      List<Segment> segments = Segment.of(reader);
      List<Pruning> prunings = survey(segments, norms, Lucene.hasTermVectors(info), pool);
      CodecReader[] readers =
          prunings.stream()
              .map(p -> new PrunedReader(p, postingsInMemory))
              .toArray(CodecReader[]::new);
      if (weighted != null) {
        addValues(readers, segments);
      }
      write(reader, readers, pool);
    }
  }

  /** The values go to the first document that lives. */
  private void addValues(CodecReader[] readers, List<Segment> segments) throws IOException {
    int fields = 0;
    for (CodecReader reader : readers) {
      for (FieldInfo info : reader.getFieldInfos()) {
        fields = Math.max(fields, info.number + 1);
      }
    }
    for (int i = 0; i < readers.length; i++) {
      int doc = segments.get(i).firstLive();
      if (doc >= 0) {
        String name = StoredValues.nameFor(field);
        readers[i] = new ValuedReader(readers[i], name, fields, doc, values.encode());
        return;
      }
    }
  }

  private List<Pruning> survey(
      List<Segment> segments, NormKind norms, boolean vectors, Pool pool) throws IOException {
    phase("computing document lengths", postings(segments));
    Survey survey = new Survey(this, pool, field, table, rule, weighted);
    List<Pruning> prunings = new ArrayList<>();
    int emptied = 0;
    for (Segment segment : segments) {
      int[] before = rule.readsLengths() ? originalLengths(segment, norms, pool) : null;
      int[] after = survey.lengths(segment, before);
      emptied += segment.countLiveZeros(after);
      prunings.add(
          new Pruning(this, segment, field, table, rule, norms, before, after));
    }
    survey.requireAllSeen();
    if (weighted != null) {
      long tokens = survey.tokensAfter.sum();
      double unit = weighted.unit(tokens);
      prunings.forEach(pruning -> weighted.finish(pruning.newLengths, unit));
      values = StoredValues.of(table, survey.postingsAfter.sum(), tokens, unit);
    }
    report(survey, segments, emptied);
    long inVectors = vectors ? survey.postingsAfter.sum() : 0;
    phase("writing postings", survey.postingsToRead.sum() + inVectors);
    return prunings;
  }

  /** A quarter of the heap, shared by the threads, at two integers a posting. */
  private static int affordablePostings(int threads) {
    long bytes = Runtime.getRuntime().maxMemory() / 4 / threads;
    return (int) Math.min(bytes / (2 * Integer.BYTES), MOST_IN_MEMORY);
  }

  private int[] originalLengths(Segment segment, NormKind norms, Pool pool) throws IOException {
    if (norms == NormKind.NONE) {
      return new Survey(this, pool, field, table, PostingRule.KEEP_ALL, null)
          .lengths(segment, null);
    }
    int[] lengths = new int[segment.reader.maxDoc()];
    NumericDocValues each = segment.reader.getNormValues(field);
    while (each != null && each.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
      lengths[each.docID()] = norms.decode(each.longValue());
    }
    return lengths;
  }

  private long postings(List<Segment> segments) throws IOException {
    long postings = 0;
    for (Segment segment : segments) {
      postings += segment.postings(field);
    }
    return postings;
  }

  private void report(Survey survey, List<Segment> segments, int emptied) {
    long before = survey.postingsBefore.sum();
    long after = survey.postingsAfter.sum();
    Map<String, Object> counts = new TreeMap<>();
    counts.put("postings_before", before);
    counts.put("postings", after);
    counts.put("terms_before", table.size());
    counts.put("terms", survey.termsAfter());
    counts.put("tokens", survey.tokensAfter.sum());
    counts.put("documents_without_terms", emptied);
    counts.put("segments", segments.size());
    result = Json.of(counts);
    userData.put("tdv.reduction", Double.toString(before == 0 ? 0 : 1 - (double) after / before));
  }

  private void write(DirectoryReader source, CodecReader[] readers, Pool pool)
      throws IOException {
    IndexWriterConfig config = SourceSettings.of(source);
    config.setMergePolicy(new SegmentMerges());
    config.setMergeScheduler(new PooledMerges(pool));
    // No lock: the folder is ours alone until it is renamed into place.
    try (Directory folder =
            new WatchedDirectory(FSDirectory.open(output, NoLockFactory.INSTANCE), this);
        IndexWriter writer = new IndexWriter(folder, config)) {
      writer.addIndexes(readers);
      Indexes.requireCurrent(source, index);
      Map<String, String> all = new HashMap<>(source.getIndexCommit().getUserData());
      all.putAll(userData);
      writer.setLiveCommitData(all.entrySet());
      writer.commit();
    }
  }
}
