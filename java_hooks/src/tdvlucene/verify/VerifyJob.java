package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.IOFunction;
import tdvlucene.common.Failures;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.IndexFiles;
import tdvlucene.common.Lucene;
import tdvlucene.common.Pool;
import tdvlucene.common.UserException;
import tdvlucene.extract.MatrixPlan;
import tdvlucene.prune.Segment;
import tdvlucene.rules.FieldsJob;
import tdvlucene.rules.PlannedField;
import tdvlucene.rules.TermRule;

/**
 * Compares a pruned index with what the rule makes of its source, and stops at the first
 * difference.
 *
 * <p>Both are streamed and compared in the order of live documents, so they may be cut into
 * segments differently. Compared are the postings, statistics and norms of the pruned fields; and,
 * which must not have changed, those of all other fields, ids, stored fields, doc values, points
 * and term vectors. Of k-NN vectors only the fields' descriptions are compared. Memory: eight bytes
 * for each document, as many where some are deleted, four more where the rule reads lengths, and
 * the vocabulary where there are term vectors.
 */
public final class VerifyJob extends FieldsJob {
  private static final int DOCUMENTS_AT_ONCE = 1 << 13;

  private final Index index;
  private final Index prunedIndex;
  private final int threads;

  /**
   * Whether the pruned index has followed its source: it may have deletions, and its norms keep the
   * average length of before.
   */
  public boolean hasFollowed;

  private Side source;
  private Side pruned;
  private Pool pool;

  /** Of the pruned fields. */
  private long postings;

  public VerifyJob(Index index, Index prunedIndex, int threads) {
    this.index = index;
    this.prunedIndex = prunedIndex;
    this.threads = threads;
  }

  /** JSON: documents and (of the pruned fields) postings compared; the first difference, if any. */
  @Override
  protected Object run() throws IOException {
    Map<String, Object> report = new TreeMap<>();
    try (IndexReader before = open(index);
        IndexReader after = open(prunedIndex);
        Pool opened = new Pool(threads)) {
      pool = opened;
      source = new Side(before, index);
      pruned = new Side(after, prunedIndex);
      for (PlannedField target : targets) {
        target.readNorms(before, index, isShard || hasFollowed);
      }
      requireSameOrder();
      report.put("documents", source.live.size());
      Index.checkIntegrity(before.leaves(), this, pool);
      Index.checkIntegrity(after.leaves(), this, pool);
      compare(report);
    } catch (Difference e) {
      requireSound(index);
      requireSound(prunedIndex);
      report.put("difference", e.content());
    }
    return report;
  }

  /** Refuses two indexes of which one is damaged: they differ as well. */
  private void requireSound(Index each) throws IOException {
    for (String folder : each.folders()) {
      IndexFiles files = IndexFiles.of(folder);
      phase("checking the files", files.bytes());
      Failures.refuseDamage(files, true, this::advance);
    }
  }

  /** Refuses sorted segments merged into one: a merge takes their documents in turn. */
  private void requireSameOrder() {
    boolean sorted =
        Index.segmentsOf(source.reader).stream().anyMatch(each -> each.info.getIndexSort() != null);
    if (sorted && !source.sizes().equals(pruned.sizes())) {
      throw new UserException(
          index + " is sorted and " + prunedIndex + " has other segments, so that documents "
              + "come in another order: only indexes pruned segment by segment can be compared");
    }
  }

  private void compare(Map<String, Object> report) throws IOException {
    compareDescriptions();
    phase("comparing documents", source.live.size());
    overDocuments(FieldInfos.getMergedFieldInfos(source.reader), Documents::compare);
    Map<String, Postings.ComparedField> compared = new TreeMap<>();
    for (PlannedField plan : targets) {
      int[] lengths = null;
      if (plan.rule.readsLengths()) {
        phase("computing document lengths", source.reader.getSumDocFreq(plan.source));
        lengths = ofNumbers(segment -> segment.lengths(plan, this));
      }
      compared.put(plan.field, new Postings.ComparedField(plan, lengths));
      Difference.in("field", plan.field, () -> comparePruned(compared.get(plan.field)));
    }
    report.put("postings", postings);
    boolean vectors = false;
    for (FieldInfo info : source.liveFields()) {
      vectors |= Lucene.hasTermVectors(info);
      Difference.in("field", info.name, () -> compareOther(info));
    }
    if (vectors) {
      phase("comparing term vectors", source.live.size());
      overDocuments(
          FieldInfos.EMPTY,
          (number, old, found) -> Documents.compareVectors(number, compared, old, found));
    }
  }

  /** Compares the number of documents and the kinds of fields. */
  private void compareDescriptions() throws IOException {
    Difference.require("documents", source.live.size(), pruned.live.size());
    if (!hasFollowed) {
      Difference.require("deleted documents", 0, pruned.reader.numDeletedDocs());
    }
    FieldInfos before = source.liveFields();
    FieldInfos after = FieldInfos.getMergedFieldInfos(pruned.reader);
    Set<String> expected = names(before);
    for (PlannedField target : targets) {
      FieldInfo info = before.fieldInfo(target.source);
      if (target.isNew() && info != null) {
        expected.add(target.field);
        requireDescription(target.newField(info, info.number), after);
      }
    }
    Difference.require("fields", expected, names(after));
    for (FieldInfo info : before) {
      PlannedField target = target(info.name);
      boolean scaled = target != null && !target.rule.keepsFrequencies();
      FieldInfo described = scaled ? Lucene.withoutPositions(info) : info;
      requireDescription(described, after);
    }
  }

  private static void requireDescription(FieldInfo expected, FieldInfos after) {
    FieldInfo found = after.fieldInfo(expected.name);
    Difference.require(
        "description of field '" + expected.name + "'",
        describe(expected), found == null ? "no such field" : describe(found));
  }

  private static Set<String> names(FieldInfos infos) {
    Set<String> names = new TreeSet<>();
    infos.forEach(info -> names.add(info.name));
    return names;
  }

  private static String describe(FieldInfo info) {
    return Index.describe(info) + ", soft deletes " + info.isSoftDeletesField();
  }

  private interface OfDocuments {
    void compare(int number, Documents old, Documents found) throws IOException;
  }

  /** Compares all live documents; {@code columns} are read of them. */
  private void overDocuments(FieldInfos columns, OfDocuments comparison) throws IOException {
    IdField oldNames = IdField.of(source.reader, index);
    IdField foundNames = IdField.of(pruned.reader, prunedIndex);
    List<Pool.Task> tasks = new ArrayList<>();
    for (int from = 0; from < source.live.size(); from += DOCUMENTS_AT_ONCE) {
      int first = from;
      int end = Math.min(from + DOCUMENTS_AT_ONCE, source.live.size());
      tasks.add(() -> {
        checkCancelled();
        Documents old = new Documents(source, oldNames, columns);
        Documents found = new Documents(pruned, foundNames, columns);
        for (int number = first; number < end; number++) {
          old.move(number);
          found.move(number);
          try {
            comparison.compare(number, old, found);
          } catch (Difference e) {
            throw pruned.at(number, e).at("document", old.id());
          }
        }
        advance(end - first);
      });
    }
    run(tasks);
  }

  /** Runs tasks; those after one that has found a difference are not begun. */
  private void run(List<Pool.Task> tasks) throws IOException {
    AtomicInteger different = new AtomicInteger(tasks.size());
    List<Pool.Task> guarded = new ArrayList<>();
    for (Pool.Task task : tasks) {
      int number = guarded.size();
      guarded.add(() -> {
        try {
          if (number <= different.get()) {
            task.run();
          }
        } catch (Difference e) {
          different.accumulateAndGet(number, Math::min);
          throw e;
        }
      });
    }
    pool.run(guarded);
  }

  private void comparePruned(Postings.ComparedField target) throws IOException {
    PlannedField plan = target.plan();
    Postings comparison = new Postings(this, source, pruned, target);
    int passes = plan.readsTokens() ? 2 : 1;
    phase("comparing postings", passes * source.reader.getSumDocFreq(plan.source));
    int[] lengths = overTerms(comparison, plan.source);
    long documents = Arrays.stream(lengths).filter(length -> length > 0).count();
    comparison.compareStatistics(documents);
    if (plan.isBaked() && !isShard && !hasFollowed && documents > 0) {
      double average = (double) comparison.tokens.sum() / documents;
      Difference.require("average length recorded", average, plan.average);
    }
    int[] tokens = plan.readsTokens() ? ofNumbers(each -> each.tokens(plan.source, this)) : null;
    comparison.compareNorms(tokens, lengths);
    postings += comparison.postings.sum();
  }

  /** Compares what pruning leaves as it is of a field. */
  private void compareOther(FieldInfo info) throws IOException {
    if (target(info.name) == null && info.getIndexOptions() != IndexOptions.NONE) {
      PlannedField unchanged = new PlannedField(info.name, info.name, TermRule.KEEP_ALL);
      Postings comparison =
          new Postings(this, source, pruned, new Postings.ComparedField(unchanged, null));
      phase("comparing field " + info.name, source.reader.getSumDocFreq(info.name));
      overTerms(comparison, info.name);
      boolean known = !source.reader.hasDeletions();
      comparison.compareStatistics(known ? source.reader.getDocCount(info.name) : -1);
      if (info.hasNorms()) {
        comparison.compareNorms(null, null);
      }
    }
    if (info.getPointDimensionCount() > 0) {
      Side.comparePoints(source, pruned, info.name);
    }
  }

  /** Compares all ranges of a field's terms; returns the new lengths. */
  private int[] overTerms(Postings comparison, String field) throws IOException {
    AtomicIntegerArray lengths = new AtomicIntegerArray(source.live.size());
    List<Pool.Task> tasks = new ArrayList<>();
    List<BytesRef> cuts = MatrixPlan.cuts(new FieldPostings(source.reader, field));
    for (int i = 0; i <= cuts.size(); i++) {
      BytesRef first = i == 0 ? null : cuts.get(i - 1);
      BytesRef stop = i == cuts.size() ? null : cuts.get(i);
      tasks.add(() -> {
        checkCancelled();
        comparison.new Range(lengths).compare(first, stop);
      });
    }
    run(tasks);
    int[] found = new int[lengths.length()];
    Arrays.setAll(found, lengths::get);
    return found;
  }

  /** By number, what segments tell of their documents. */
  private int[] ofNumbers(IOFunction<Segment, int[]> read) throws IOException {
    int[] lengths = new int[source.live.size()];
    for (Segment segment : Segment.of(source.reader)) {
      int[] ofSegment = read.apply(segment);
      for (int doc = 0; doc < ofSegment.length; doc++) {
        int number = source.live.of(segment.leaf.docBase + doc);
        if (number >= 0) {
          lengths[number] = ofSegment[doc];
        }
      }
    }
    return lengths;
  }
}
