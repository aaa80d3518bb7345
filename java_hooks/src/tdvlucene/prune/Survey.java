package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import tdvlucene.common.Failures;
import tdvlucene.common.Job;
import tdvlucene.common.Pool;
import tdvlucene.common.TermText;
import tdvlucene.common.UserException;
import tdvlucene.rules.PlannedField;
import tdvlucene.rules.PostingRule;
import tdvlucene.rules.TermTable;

/**
 * The rewriter's first pass over a field: it computes the new document lengths, counts what is
 * kept, and makes sure that the TDVs belong to the field's vocabulary.
 *
 * <p>Norms are merged before postings, so the lengths must be known first. The pass decodes only
 * terms that keep postings (in a segment with deletions all terms, to see which of them live) and
 * reads ranges of the vocabulary in parallel. It takes a fifth of the time of a rewrite: keeping
 * the decoded postings for the merge would not be worth the memory. Memory: four bytes for each
 * document for the lengths, and as much again in each thread for the current segment.
 */
final class Survey {
  /** Ranges begin at multiples of this, so that no two threads share a word of a bit set. */
  private static final int ALIGNMENT = 64;

  private static final int RANGES = 16;
  private static final int END = Segment.END;

  private final Job job;
  private final Pool pool;
  private final PlannedField target;
  private final String field;
  private final TermTable table;
  private final PostingRule rule;

  /** Terms that have a live posting. */
  final FixedBitSet seen;

  /** Terms that keep a posting. */
  final FixedBitSet kept;

  final LongAdder postingsBefore = new LongAdder();
  final LongAdder postingsToRead = new LongAdder();
  final LongAdder postingsAfter = new LongAdder();
  final LongAdder tokensAfter = new LongAdder();

  Survey(Job job, Pool pool, PlannedField target) {
    this.job = job;
    this.pool = pool;
    this.target = target;
    this.field = target.source;
    this.table = target.table;
    this.rule = target.rule;
    this.seen = new FixedBitSet(table.size());
    this.kept = new FixedBitSet(table.size());
  }

  /** Decides on the field in every segment. */
  List<Pruning> read(List<Segment> segments) throws IOException {
    List<Pruning> prunings = new ArrayList<>();
    for (Segment segment : segments) {
      int[] before = rule.readsLengths() ? segment.lengths(target, job) : null;
      prunings.add(new Pruning(job, segment, target, before, lengths(segment, before)));
    }
    return prunings;
  }

  /** Reads one segment; returns the new length of each of its documents. */
  private int[] lengths(Segment segment, int[] oldLengths) throws IOException {
    Queue<int[]> sums = new ConcurrentLinkedQueue<>();
    List<Pool.Task> tasks = new ArrayList<>();
    Terms terms = segment.reader.terms(field);
    int step = ((table.size() / RANGES) / ALIGNMENT + 1) * ALIGNMENT;
    for (int first = 0; terms != null && (first == 0 || first < table.size()); first += step) {
      int from = first;
      tasks.add(() -> {
        int[] idle = sums.poll();
        int[] lengths = idle == null ? new int[segment.reader.maxDoc()] : idle;
        new Range(segment, oldLengths, lengths).read(terms, from, from + step);
        sums.add(lengths);
      });
    }
    pool.run(tasks);
    return sum(sums, segment);
  }

  private int[] sum(Queue<int[]> sums, Segment segment) {
    int[] total = sums.isEmpty() ? new int[segment.reader.maxDoc()] : sums.remove();
    for (int[] more : sums) {
      for (int doc = 0; doc < total.length; doc++) {
        total[doc] = addLengths(total[doc], more[doc]);
      }
    }
    return total;
  }

  private int addLengths(int a, int b) {
    int sum = a + b;
    if (sum < 0) {
      throw UserException.unlessDamaged(
          "a document's new length exceeds " + Integer.MAX_VALUE
              + " tokens: use a smaller scale");
    }
    return sum;
  }

  /** Refuses TDVs of terms that no segment has; call it after the last segment. */
  void requireAllSeen() throws IOException {
    seen.flip(0, table.size());
    int missing = table.size() == 0 ? END : seen.nextSetBit(0);
    if (missing != END) {
      TermTable.Cursor cursor = table.cursor();
      cursor.seek(missing);
      throw otherVocabulary(
          "they have one for " + TermText.show(cursor.term()) + ", which it lacks");
    }
  }

  private UserException otherVocabulary(String difference) {
    return UserException.unlessDamaged(
        "TDVs of another vocabulary: they do not belong to field '" + field
            + "' of this index; " + difference
            + ". Learn them on this index (tdv-lucene learn --index ...)");
  }

  /** Some terms of one segment, whose documents' new lengths are added to {@code lengths}. */
  private final class Range {
    private final Segment segment;
    private final int[] oldLengths;
    private final int[] lengths;
    private PostingsEnum postings;

    private Range(Segment segment, int[] oldLengths, int[] lengths) {
      this.segment = segment;
      this.oldLengths = oldLengths;
      this.lengths = lengths;
    }

    /** From the vocabulary's term {@code first} up to {@code end}. */
    private void read(Terms terms, int first, int end) throws IOException {
      BytesRef at = null;
      try {
        TermsEnum each = terms.iterator();
        TermTable.Cursor cursor = table.cursor();
        BytesRef stop = cursor.seek(end) ? BytesRef.deepCopyOf(cursor.term()) : null;
        at = cursor.seek(first) && first > 0 ? seek(each, cursor.term()) : each.next();
        for (; at != null && (stop == null || at.compareTo(stop) < 0); at = each.next()) {
          if (cursor.advance(at)) {
            read(each, cursor.number());
          } else if (hasLivePosting(each)) {
            throw otherVocabulary(
                "it has the term " + TermText.show(at) + ", for which they have none");
          }
          job.advance(each.docFreq());
        }
      } catch (UserException e) {
        throw e;
      } catch (IOException | RuntimeException e) {
        throw new Failures.Located(e, segment.name(), field, at);
      }
    }

    private BytesRef seek(TermsEnum each, BytesRef to) throws IOException {
      return each.seekCeil(to) == TermsEnum.SeekStatus.END ? null : each.term();
    }

    private boolean hasLivePosting(TermsEnum each) throws IOException {
      return segment.live == null || countLive(each) > 0;
    }

    private int countLive(TermsEnum each) throws IOException {
      int count = 0;
      postings = each.postings(postings, PostingsEnum.NONE);
      for (int doc = postings.nextDoc(); doc != END; doc = postings.nextDoc()) {
        count += segment.live.get(doc) ? 1 : 0;
      }
      return count;
    }

    private void read(TermsEnum each, int term) throws IOException {
      if (rule.drops(term)) {
        int before = segment.live == null ? each.docFreq() : countLive(each);
        count(term, before, 0, 0);
        return;
      }
      postingsToRead.add(each.docFreq());
      int before = 0;
      int after = 0;
      long tokens = 0;
      boolean positions = rule.readsPositions();
      postings = each.postings(postings, positions ? PostingsEnum.POSITIONS : PostingsEnum.FREQS);
      for (int doc = postings.nextDoc(); doc != END; doc = postings.nextDoc()) {
        if (segment.isLive(doc)) {
          int oldLength = oldLengths == null ? 0 : oldLengths[doc];
          int first = positions ? postings.nextPosition() : PostingRule.UNKNOWN;
          int freq = rule.freq(term, postings.freq(), first, oldLength);
          lengths[doc] = addLengths(lengths[doc], freq);
          before++;
          after += freq > 0 ? 1 : 0;
          tokens += freq;
        }
      }
      count(term, before, after, tokens);
    }

    private void count(int term, int before, int after, long tokens) {
      if (before > 0) {
        seen.set(term);
      }
      if (after > 0) {
        kept.set(term);
      }
      postingsBefore.add(before);
      postingsAfter.add(after);
      tokensAfter.add(tokens);
    }
  }
}
