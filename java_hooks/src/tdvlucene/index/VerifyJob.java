package tdvlucene.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.Lucene;

/**
 * Compares a pruned index with what the rule makes of its source, and stops at the first
 * difference.
 *
 * <p>Everything is streamed from both and compared in the order of live documents, so that the two
 * may be cut into segments differently: postings, statistics and norms of the pruned field; those
 * of all others, ids, stored fields, doc values, points and term vectors, which are to be as they
 * were. Of k-NN vectors only the fields' descriptions are compared. Memory: four bytes a document
 * and thread, four a document more where the rule reads lengths, and the vocabulary where there
 * are term vectors.
 */
public final class VerifyJob extends Job {
  private static final int DOCUMENTS_AT_ONCE = 1 << 13;

  /** Threads add up weighted tokens in any order, which changes the last bits of their sum. */
  private static final double UNIT_TOLERANCE = 1e-9;

  private final String index;
  private final String prunedIndex;
  private final String field;
  private final TermTable table;
  private final PostingRule rule;
  private final int threads;
  private final Queue<int[]> lengthSums = new ConcurrentLinkedQueue<>();
  private ComparedIndex source;
  private ComparedIndex pruned;
  private NormKind norms;
  private int[] oldLengths;
  private WeightedLengths weighted;
  private String result = "";

  /** @param table the source field's vocabulary */
  public VerifyJob(
      String index, String prunedIndex, String field, TermTable table, PostingRule rule,
      int threads) {
    this.index = index;
    this.prunedIndex = prunedIndex;
    this.field = field;
    this.table = table;
    this.rule = rule;
    this.threads = threads;
  }

  /** As {@link PruneJob#keepValues}. */
  public void keepValues(double mean) {
    weighted = new WeightedLengths(table.tdv(), mean);
  }

  /** JSON: postings and documents compared, and the first difference where there is one. */
  @Override
  public String result() {
    return result;
  }

  @Override
  protected void run() throws IOException {
    Map<String, Object> report = new TreeMap<>();
    try (DirectoryReader before = Indexes.openUnlocked(index);
        DirectoryReader after = Indexes.openUnlocked(prunedIndex);
        Pool pool = new Pool(threads)) {
      source = new ComparedIndex(before, index);
      pruned = new ComparedIndex(after, prunedIndex);
      Indexes.requireFrequencies(before, index, field);
      norms = Indexes.requireKnownNorms(before, index, field);
      report.put("documents", source.live.size());
      Indexes.checkPostings(before, this, pool);
      Indexes.checkPostings(after, this, pool);
      compare(report, pool);
    } catch (Difference e) {
      report.put("difference", e.content());
    }
    result = Json.of(report);
  }

  private void compare(Map<String, Object> report, Pool pool) throws IOException {
    compareDescriptions();
    phase("comparing documents", source.live.size());
    DocumentsComparison documents = new DocumentsComparison(source, pruned);
    overDocuments(documents::compare, pool);
    oldLengths = rule.readsLengths() ? originalLengths(pool) : null;
    report.put("postings", comparePruned(pool));
    FieldInfos fields = FieldInfos.getMergedFieldInfos(source.reader);
    boolean anyVectors = false;
    for (FieldInfo info : fields) {
      anyVectors |= Lucene.hasTermVectors(info);
      if (!info.name.equals(field)) {
        compareOther(info, pool);
      }
      if (info.getPointDimensionCount() > 0) {
        PointsComparison.compare(source, pruned, info.name);
      }
    }
    if (anyVectors) {
      phase("comparing term vectors", source.live.size());
      VectorsComparison vectors =
          new VectorsComparison(source, pruned, field, table.lookup(), rule, oldLengths);
      overDocuments(vectors::compare, pool);
    }
  }

  /** What does not depend on documents: how many there are, and which fields of what kind. */
  private void compareDescriptions() {
    Difference.require("documents", source.live.size(), pruned.live.size());
    Difference.require("deleted documents", 0, pruned.reader.numDeletedDocs());
    FieldInfos before = FieldInfos.getMergedFieldInfos(source.reader);
    FieldInfos after = FieldInfos.getMergedFieldInfos(pruned.reader);
    List<String> expectedNames = names(before);
    if (weighted != null) {
      expectedNames.add(StoredValues.nameFor(field));
      expectedNames.sort(Comparator.naturalOrder());
    }
    Difference.require("fields", expectedNames, names(after));
    for (FieldInfo info : before) {
      boolean scaled = info.name.equals(field) && !rule.keepsFrequencies();
      FieldInfo expected = scaled ? Lucene.withoutPositions(info) : info;
      Difference.require(
          "description of field '" + info.name + "'",
          describe(expected), describe(after.fieldInfo(info.name)));
    }
  }

  private static List<String> names(FieldInfos infos) {
    List<String> names = new ArrayList<>();
    infos.forEach(info -> names.add(info.name));
    names.sort(Comparator.naturalOrder());
    return names;
  }

  private static String describe(FieldInfo info) {
    return "index options " + info.getIndexOptions()
        + ", norms " + info.hasNorms()
        + ", term vectors " + Lucene.hasTermVectors(info)
        + ", doc values " + info.getDocValuesType()
        + ", point dimensions " + info.getPointDimensionCount()
        + ", k-NN dimensions " + info.getVectorDimension()
        + ", soft deletes " + info.isSoftDeletesField();
  }

  private interface DocumentRange {
    void compare(int from, int to) throws IOException;
  }

  private void overDocuments(DocumentRange comparison, Pool pool) throws IOException {
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int from = 0; from < source.live.size(); from += DOCUMENTS_AT_ONCE) {
      int first = from;
      int end = Math.min(from + DOCUMENTS_AT_ONCE, source.live.size());
      tasks.add(() -> {
        checkCancelled();
        comparison.compare(first, end);
        advance(end - first);
        return null;
      });
    }
    pool.run(untilDifferent(tasks));
  }

  /** Tasks that are not begun once one before them has found a difference. */
  private static List<Callable<Void>> untilDifferent(List<Callable<Void>> tasks) {
    AtomicInteger different = new AtomicInteger(Integer.MAX_VALUE);
    List<Callable<Void>> guarded = new ArrayList<>();
    for (int i = 0; i < tasks.size(); i++) {
      int number = i;
      guarded.add(() -> {
        try {
          return number > different.get() ? null : tasks.get(number).call();
        } catch (Difference e) {
          different.accumulateAndGet(number, Math::min);
          throw e;
        }
      });
    }
    return guarded;
  }

  /** Compares the pruned field; returns its postings. */
  private long comparePruned(Pool pool) throws IOException {
    PostingsComparison comparison =
        new PostingsComparison(this, field, source, pruned, table, rule, oldLengths, weighted);
    comparison.compareKinds();
    phase("comparing postings", postings());
    overTerms(comparison, true, pool);
    int[] lengths = sumLengths();
    if (weighted != null) {
      compareValues(comparison.tokens.sum(), lengths);
    }
    comparison.compareStatistics(Arrays.stream(lengths).filter(length -> length > 0).count());
    new NormsComparison(source, pruned, field).compare(norms, lengths);
    return comparison.postings.sum();
  }

  /** Compares the values the index keeps for the search, and makes lengths of weighted parts. */
  private void compareValues(long tokens, int[] lengths) throws IOException {
    StoredValues values = StoredValues.read(pruned.reader, field);
    double unit = weighted.unit(tokens);
    if (Math.abs(values.lengthUnit() / unit - 1) > UNIT_TOLERANCE) {
      throw new Difference("length of one weighted token", unit, values.lengthUnit());
    }
    weighted.finish(lengths, values.lengthUnit());
    TermTable.Cursor cursor = table.cursor();
    for (int term = 0; term < table.size(); term++) {
      if (table.tdv()[term] > 0) {
        cursor.seek(term);
        float found = values.of(cursor.term());
        if (found != table.tdv()[term]) {
          throw new Difference("value kept in the index", table.tdv()[term], found)
              .at("field", field)
              .at("term", Places.show(cursor.term()));
        }
      }
    }
  }

  private long postings() throws IOException {
    long postings = 0;
    for (Segment segment : Segment.of(source.reader)) {
      postings += segment.postings(field);
    }
    return postings;
  }

  private void overTerms(PostingsComparison comparison, boolean lengths, Pool pool)
      throws IOException {
    List<Callable<Void>> tasks = new ArrayList<>();
    List<BytesRef> cuts = MatrixPlan.cuts(comparison.before());
    for (int i = 0; i <= cuts.size(); i++) {
      BytesRef first = i == 0 ? null : cuts.get(i - 1);
      BytesRef stop = i == cuts.size() ? null : cuts.get(i);
      tasks.add(() -> {
        checkCancelled();
        int[] sums = lengths ? borrowLengths() : null;
        comparison.compare(first, stop, sums);
        if (lengths) {
          lengthSums.add(sums);
        }
        return null;
      });
    }
    pool.run(untilDifferent(tasks));
  }

  /** Sums that no thread adds to at the moment. */
  private int[] borrowLengths() {
    int[] sums = lengthSums.poll();
    return sums == null ? new int[source.live.size()] : sums;
  }

  private int[] sumLengths() {
    int[] total = borrowLengths();
    for (int[] more : lengthSums) {
      for (int number = 0; number < total.length; number++) {
        total[number] += more[number];
      }
    }
    return total;
  }

  /** The lengths the rule was told when the index was pruned. */
  private int[] originalLengths(Pool pool) throws IOException {
    if (norms == NormKind.NONE) {
      return countLengths(pool);
    }
    int[] lengths = new int[source.live.size()];
    for (LeafReaderContext leaf : source.reader.leaves()) {
      NumericDocValues each = leaf.reader().getNormValues(field);
      while (each != null && each.nextDoc() != IndexPostings.END) {
        int number = source.live.of(leaf.docBase + each.docID());
        if (number >= 0) {
          lengths[number] = norms.decode(each.longValue());
        }
      }
    }
    return lengths;
  }

  /** By comparing the source with itself, which adds up all its frequencies. */
  private int[] countLengths(Pool pool) throws IOException {
    phase("computing document lengths", postings());
    overTerms(
        new PostingsComparison(
            this, field, source, source, null, PostingRule.KEEP_ALL, null, null),
        true, pool);
    int[] lengths = sumLengths();
    lengthSums.clear();
    return lengths;
  }

  private void compareOther(FieldInfo info, Pool pool) throws IOException {
    if (info.getIndexOptions() != IndexOptions.NONE) {
      PostingsComparison comparison =
          new PostingsComparison(
              this, info.name, source, pruned, null, PostingRule.KEEP_ALL, null, null);
      comparison.compareKinds();
      phase("comparing field " + info.name, 0);
      overTerms(comparison, false, pool);
      boolean known = !source.reader.hasDeletions();
      comparison.compareStatistics(known ? source.reader.getDocCount(info.name) : -1);
    }
    if (info.hasNorms()) {
      new NormsComparison(source, pruned, info.name).compare(norms, null);
    }
  }
}
