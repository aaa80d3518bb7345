package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Failures;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.IndexFiles;
import tdvlucene.common.Indexes;
import tdvlucene.common.Lucene;
import tdvlucene.common.Pool;
import tdvlucene.common.Segments;
import tdvlucene.common.UserException;
import tdvlucene.extract.MatrixPlan;
import tdvlucene.prune.Segment;
import tdvlucene.rules.FieldsJob;
import tdvlucene.rules.PlannedField;
import tdvlucene.rules.PostingRule;

/**
 * Compares a pruned index with what the rule makes of its source, and stops at the first
 * difference.
 *
 * <p>Both are streamed and compared in the order of live documents, so they may be cut into
 * segments differently. Compared are the postings, statistics and norms of the pruned fields; and,
 * which must not have changed, those of all other fields, ids, stored fields, doc values, points
 * and term vectors. Of k-NN vectors only the fields' descriptions are compared. Memory: four bytes
 * for each document in each thread, four more for each document where the rule reads lengths, and
 * the vocabulary where there are term vectors.
 */
public final class VerifyJob extends FieldsJob {
  private static final int DOCUMENTS_AT_ONCE = 1 << 13;

  private final Index index;
  private final Index prunedIndex;
  private final int threads;
  private boolean hasFollowed;
  private Side source;
  private Side pruned;
  private Pool pool;

  public VerifyJob(Index index, Index prunedIndex, int threads) {
    this.index = index;
    this.prunedIndex = prunedIndex;
    this.threads = threads;
  }

  /**
   * The pruned index has followed its source: it may have deletions, and its norms keep the average
   * length of before.
   */
  public void hasFollowed() {
    hasFollowed = true;
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
      Indexes.checkIntegrity(before, this, pool);
      Indexes.checkIntegrity(after, this, pool);
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
        Segments.of(source.reader).stream().anyMatch(each -> each.info.getIndexSort() != null);
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
    long postings = 0;
    Map<String, ComparedField> compared = new TreeMap<>();
    for (PlannedField plan : targets) {
      int[] lengths = plan.rule.readsLengths() ? originalLengths(plan) : null;
      compared.put(plan.field, new ComparedField(plan, lengths));
      postings += comparePruned(compared.get(plan.field));
    }
    report.put("postings", postings);
    boolean vectors = false;
    for (FieldInfo info : source.liveFields()) {
      vectors |= Lucene.hasTermVectors(info);
      Difference.in("field", info.name, () -> compareOther(info));
    }
    if (vectors) {
      phase("comparing term vectors", source.live.size());
      overDocuments(FieldInfos.EMPTY, new Vectors(compared)::compare);
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
    return Indexes.describe(info) + ", soft deletes " + info.isSoftDeletesField();
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
    pool.run(untilDifferent(tasks));
  }

  /** Tasks that are not begun once one before them has found a difference. */
  private static List<Pool.Task> untilDifferent(List<Pool.Task> tasks) {
    AtomicInteger different = new AtomicInteger(Integer.MAX_VALUE);
    List<Pool.Task> guarded = new ArrayList<>();
    for (int i = 0; i < tasks.size(); i++) {
      int number = i;
      guarded.add(() -> {
        try {
          if (number <= different.get()) {
            tasks.get(number).run();
          }
        } catch (Difference e) {
          different.accumulateAndGet(number, Math::min);
          throw e;
        }
      });
    }
    return guarded;
  }

  /** Compares a pruned field; returns its postings. */
  private long comparePruned(ComparedField target) throws IOException {
    PlannedField plan = target.plan();
    long[] found = new long[1];
    Difference.in("field", plan.field, () -> {
      Postings comparison = new Postings(this, source, pruned, target);
      phase("comparing postings", source.reader.getSumDocFreq(plan.source));
      int[] lengths = overTerms(comparison);
      long documents = Arrays.stream(lengths).filter(length -> length > 0).count();
      comparison.compareStatistics(documents);
      if (plan.isBaked() && !isShard && !hasFollowed && documents > 0) {
        double average = (double) comparison.tokens.sum() / documents;
        Difference.require("average length recorded", average, plan.average);
      }
      new Values(source, pruned, plan.source, plan.field).compareNorms(plan, lengths);
      found[0] = comparison.postings.sum();
    });
    return found[0];
  }

  /** Compares what pruning leaves as it is of a field. */
  private void compareOther(FieldInfo info) throws IOException {
    Values values = new Values(source, pruned, info.name, info.name);
    boolean isPruned = target(info.name) != null;
    if (!isPruned && info.getIndexOptions() != IndexOptions.NONE) {
      PlannedField unchanged = new PlannedField(info.name, info.name, null, PostingRule.KEEP_ALL);
      Postings comparison =
          new Postings(this, source, pruned, new ComparedField(unchanged, null));
      phase("comparing field " + info.name, source.reader.getSumDocFreq(info.name));
      overTerms(comparison);
      boolean known = !source.reader.hasDeletions();
      comparison.compareStatistics(known ? source.reader.getDocCount(info.name) : -1);
    }
    if (!isPruned && info.hasNorms()) {
      values.compareNorms(null, null);
    }
    if (info.getPointDimensionCount() > 0) {
      values.comparePoints();
    }
  }

  /** Compares all ranges of the terms; returns the new lengths. */
  private int[] overTerms(Postings comparison) throws IOException {
    Queue<int[]> idle = new ConcurrentLinkedQueue<>();
    List<Pool.Task> tasks = new ArrayList<>();
    List<BytesRef> cuts = MatrixPlan.cuts(comparison.before);
    for (int i = 0; i <= cuts.size(); i++) {
      BytesRef first = i == 0 ? null : cuts.get(i - 1);
      BytesRef stop = i == cuts.size() ? null : cuts.get(i);
      tasks.add(() -> {
        checkCancelled();
        int[] lengths = borrow(idle);
        comparison.compare(first, stop, lengths);
        idle.add(lengths);
      });
    }
    pool.run(untilDifferent(tasks));
    int[] total = borrow(idle);
    for (int[] more : idle) {
      Arrays.setAll(total, number -> total[number] + more[number]);
    }
    return total;
  }

  /** Sums that no thread adds to at the moment. */
  private int[] borrow(Queue<int[]> idle) {
    int[] lengths = idle.poll();
    return lengths == null ? new int[source.live.size()] : lengths;
  }

  /** By number, the lengths the rule was told when the index was pruned. */
  private int[] originalLengths(PlannedField target) throws IOException {
    phase("computing document lengths", source.reader.getSumDocFreq(target.source));
    int[] lengths = new int[source.live.size()];
    for (Segment segment : Segment.of(source.reader)) {
      int[] ofSegment = segment.lengths(target, this);
      for (int doc = 0; doc < ofSegment.length; doc++) {
        int number = source.live.of(segment.docBase + doc);
        if (number >= 0) {
          lengths[number] = ofSegment[doc];
        }
      }
    }
    return lengths;
  }
}
