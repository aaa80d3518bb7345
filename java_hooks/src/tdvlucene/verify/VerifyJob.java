package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.Damage;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.IndexFiles;
import tdvlucene.common.Indexes;
import tdvlucene.common.Job;
import tdvlucene.common.Lucene;
import tdvlucene.common.Pool;
import tdvlucene.extract.MatrixPlan;
import tdvlucene.prune.OriginalLengths;
import tdvlucene.prune.PrunableField;
import tdvlucene.prune.PruneJob;
import tdvlucene.prune.Segment;
import tdvlucene.rules.PostingRule;
import tdvlucene.rules.TermTable;

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
public final class VerifyJob extends Job {
  private static final int DOCUMENTS_AT_ONCE = 1 << 13;

  private final Index index;
  private final Index prunedIndex;
  private final Map<String, ComparedField> targets = new LinkedHashMap<>();
  private ComparedField last;
  private final int threads;
  private boolean isShard;
  private boolean hasFollowed;
  private ComparedIndex source;
  private ComparedIndex pruned;

  public VerifyJob(Index index, Index prunedIndex, int threads) {
    this.index = index;
    this.prunedIndex = prunedIndex;
    this.threads = threads;
  }

  /** As {@link PruneJob#isShard}. */
  public void isShard() {
    isShard = true;
  }

  /**
   * The pruned index has followed its source: it may have deletions, and its norms keep the average
   * length of before.
   */
  public void hasFollowed() {
    hasFollowed = true;
  }

  /** As {@link PruneJob#addField}. */
  public void addField(String field, TermTable table, PostingRule rule) {
    last = new ComparedField(field, table, rule);
    targets.put(field, last);
  }

  /**
   * As {@link PruneJob#bake}: of the field added last.
   *
   * @param average the average length that the index records
   */
  public void bake(BakedNorms.Parameters held, BakedNorms.Parameters searched, double average) {
    last.held = held;
    last.searched = searched;
    last.average = average;
  }

  /** JSON: documents and (of the pruned fields) postings compared; the first difference, if any. */
  @Override
  protected Object run() throws IOException {
    Map<String, Object> report = new TreeMap<>();
    try (IndexReader before = open(index);
        IndexReader after = open(prunedIndex);
        Pool pool = new Pool(threads)) {
      source = new ComparedIndex(before, index);
      pruned = new ComparedIndex(after, prunedIndex);
      for (ComparedField target : targets.values()) {
        target.norms =
            PrunableField.requireNorms(
                before, index, target.field, target.rule, isShard || hasFollowed);
      }
      new DescriptionsComparison(source, pruned).requireSameOrder();
      report.put("documents", source.live.size());
      Indexes.checkIntegrity(before, this, pool);
      Indexes.checkIntegrity(after, this, pool);
      compare(report, pool);
    } catch (Difference e) {
      requireSound(index);
      requireSound(prunedIndex);
      report.put("difference", e.content);
    }
    return report;
  }

  /** Two indexes differ as well where one of them is damaged. */
  private void requireSound(Index each) throws IOException {
    for (String folder : each.folders()) {
      IndexFiles files = IndexFiles.of(folder);
      phase("checking the files", files.bytes());
      Damage.refuse(files, true, this::advance);
    }
  }

  private void compare(Map<String, Object> report, Pool pool) throws IOException {
    new DescriptionsComparison(source, pruned).compare(targets, hasFollowed);
    phase("comparing documents", source.live.size());
    FieldInfos columns = FieldInfos.getMergedFieldInfos(source.reader);
    overDocuments(columns, new DocumentsComparison(source, pruned)::compare, pool);
    long postings = 0;
    for (ComparedField target : targets.values()) {
      target.oldLengths = target.rule.readsLengths() ? originalLengths(target) : null;
      postings += comparePruned(target, pool);
    }
    report.put("postings", postings);
    boolean vectors = false;
    for (FieldInfo info : source.liveFields()) {
      vectors |= Lucene.hasTermVectors(info);
      if (!targets.containsKey(info.name)) {
        compareOther(info, pool);
      }
      if (info.getPointDimensionCount() > 0) {
        PointsComparison.compare(source, pruned, info.name);
      }
    }
    if (vectors) {
      phase("comparing term vectors", source.live.size());
      overDocuments(FieldInfos.EMPTY, new VectorsComparison(targets)::compare, pool);
    }
  }

  private interface OfDocuments {
    void compare(int number, DocumentCursor old, DocumentCursor found) throws IOException;
  }

  /** Compares all live documents; {@code columns} are read of them. */
  private void overDocuments(FieldInfos columns, OfDocuments comparison, Pool pool)
      throws IOException {
    IdField oldNames = IdField.of(source.reader, source.path);
    IdField foundNames = IdField.of(pruned.reader, pruned.path);
    List<Pool.Task> tasks = new ArrayList<>();
    for (int from = 0; from < source.live.size(); from += DOCUMENTS_AT_ONCE) {
      int first = from;
      int end = Math.min(from + DOCUMENTS_AT_ONCE, source.live.size());
      tasks.add(() -> {
        checkCancelled();
        DocumentCursor old = new DocumentCursor(source, oldNames, columns);
        DocumentCursor found = new DocumentCursor(pruned, foundNames, columns);
        for (int number = first; number < end; number++) {
          old.move(number);
          found.move(number);
          try {
            comparison.compare(number, old, found);
          } catch (Difference e) {
            throw e.at("segment", pruned.segmentOf(number)).at("document", old.id());
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
  private long comparePruned(ComparedField target, Pool pool) throws IOException {
    PostingsComparison comparison = new PostingsComparison(this, source, pruned, target);
    comparison.compareKinds();
    phase("comparing postings", source.reader.getSumDocFreq(target.field));
    int[] lengths = overTerms(comparison, pool);
    long documents = Arrays.stream(lengths).filter(length -> length > 0).count();
    comparison.compareStatistics(documents);
    double average = (double) comparison.tokens.sum() / documents;
    boolean isKnown = target.held != null && !isShard && !hasFollowed && documents > 0;
    if (isKnown && average != target.average) {
      throw new Difference("average length recorded", average, target.average)
          .at("field", target.field);
    }
    new NormsComparison(source, pruned, target.field).compare(target.expectedNorms(), lengths);
    return comparison.postings.sum();
  }

  /** Compares all ranges of the terms; returns the new lengths. */
  private int[] overTerms(PostingsComparison comparison, Pool pool) throws IOException {
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
    return sum(idle);
  }

  /** Sums that no thread adds to at the moment. */
  private int[] borrow(Queue<int[]> idle) {
    int[] lengths = idle.poll();
    return lengths == null ? new int[source.live.size()] : lengths;
  }

  private int[] sum(Queue<int[]> parts) {
    int[] total = borrow(parts);
    for (int[] more : parts) {
      for (int number = 0; number < total.length; number++) {
        total[number] += more[number];
      }
    }
    return total;
  }

  /** By number, the lengths the rule was told when the index was pruned. */
  private int[] originalLengths(ComparedField target) throws IOException {
    phase("computing document lengths", source.reader.getSumDocFreq(target.field));
    int[] lengths = new int[source.live.size()];
    for (Segment segment : Segment.of(source.reader)) {
      int[] ofSegment = OriginalLengths.of(segment, target.field, target.norms, this);
      for (int doc = 0; doc < ofSegment.length; doc++) {
        int number = source.live.of(segment.docBase + doc);
        if (number >= 0) {
          lengths[number] = ofSegment[doc];
        }
      }
    }
    return lengths;
  }

  private void compareOther(FieldInfo info, Pool pool) throws IOException {
    if (info.getIndexOptions() != IndexOptions.NONE) {
      ComparedField unchanged = new ComparedField(info.name, null, PostingRule.KEEP_ALL);
      PostingsComparison comparison = new PostingsComparison(this, source, pruned, unchanged);
      comparison.compareKinds();
      phase("comparing field " + info.name, source.reader.getSumDocFreq(info.name));
      overTerms(comparison, pool);
      boolean known = !source.reader.hasDeletions();
      comparison.compareStatistics(known ? source.reader.getDocCount(info.name) : -1);
    }
    if (info.hasNorms()) {
      new NormsComparison(source, pruned, info.name).compare(null, null);
    }
  }
}
