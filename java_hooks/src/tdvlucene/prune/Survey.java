package tdvlucene.prune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.Job;
import tdvlucene.common.Pool;
import tdvlucene.common.TermText;
import tdvlucene.common.UserException;
import tdvlucene.rules.PlannedField;
import tdvlucene.rules.TermRule;
import tdvlucene.rules.TermTable;

/**
 * The rewriter's first pass over a field: it computes the new document lengths, counts what is
 * kept, and makes sure that the TDVs belong to the field's vocabulary.
 *
 * <p>Norms are merged before postings, so the lengths must be known first. The pass decodes only
 * terms that keep postings (in a segment with deletions all terms, to see which of them live) and
 * reads ranges of the vocabulary in parallel. It takes a fifth of the time of a rewrite: keeping
 * the decoded postings for the merge would not be worth the memory. Memory: four bytes for each
 * document for the lengths, and as much again for the current segment.
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
  private final TermRule rule;

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
    this.table = target.rule.table();
    this.rule = target.rule;
    this.seen = new FixedBitSet(table.size());
    this.kept = new FixedBitSet(table.size());
  }

  /** Decides on the field in every segment. */
  List<Pruning> read(List<Segment> segments) throws IOException {
    List<Pruning> prunings = new ArrayList<>();
    for (Segment segment : segments) {
      int[] before = rule.readsLengths() ? segment.lengths(target, job) : null;
      int[] tokens = target.readsTokens() ? segment.tokens(field, job) : null;
      prunings.add(new Pruning(job, segment, target, before, tokens, lengths(segment, before)));
    }
    return prunings;
  }

  /** Reads one segment; returns the new length of each of its documents. */
  private int[] lengths(Segment segment, int[] oldLengths) throws IOException {
    AtomicIntegerArray sums = new AtomicIntegerArray(segment.reader.maxDoc());
    List<Pool.Task> tasks = new ArrayList<>();
    int step = ((table.size() / RANGES) / ALIGNMENT + 1) * ALIGNMENT;
    for (int first = 0; first == 0 || first < table.size(); first += step) {
      int from = first;
      tasks.add(() -> new Range(segment, oldLengths, sums).read(from, from + step));
    }
    pool.run(tasks);
    int[] lengths = new int[sums.length()];
    Arrays.setAll(lengths, sums::get);
    return lengths;
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
    private final AtomicIntegerArray lengths;
    private final FieldPostings postings;

    private Range(Segment segment, int[] oldLengths, AtomicIntegerArray lengths)
        throws IOException {
      this.segment = segment;
      this.oldLengths = oldLengths;
      this.lengths = lengths;
      this.postings = new FieldPostings(segment.reader, field);
    }

    /** From the vocabulary's term {@code first} up to {@code end}. */
    private void read(int first, int end) throws IOException {
      TermTable.Cursor cursor = table.cursor();
      BytesRef stop = cursor.seek(end) ? BytesRef.deepCopyOf(cursor.term()) : null;
      BytesRef at = postings.nextTerm(cursor.seek(first) && first > 0 ? cursor.term() : null);
      for (; at != null && (stop == null || at.compareTo(stop) < 0); at = postings.nextTerm()) {
        if (cursor.advance(at)) {
          read(cursor.number());
        } else if (countLive() > 0) {
          throw otherVocabulary(
              "it has the term " + TermText.show(at) + ", for which they have none");
        }
        job.advance(postings.docFreq());
      }
    }

    private int countLive() throws IOException {
      if (segment.live == null) {
        return postings.docFreq();
      }
      int count = 0;
      postings.readPostings(PostingsEnum.NONE);
      for (int doc = postings.next(); doc != END; doc = postings.next()) {
        count += segment.live.get(doc) ? 1 : 0;
      }
      return count;
    }

    private void read(int term) throws IOException {
      if (rule.drops(term)) {
        count(term, countLive(), 0, 0);
        return;
      }
      postingsToRead.add(postings.docFreq());
      int before = 0;
      int after = 0;
      long tokens = 0;
      boolean positions = rule.readsPositions();
      postings.readPostings(positions ? PostingsEnum.POSITIONS : PostingsEnum.FREQS);
      for (int doc = postings.next(); doc != END; doc = postings.next()) {
        if (segment.isLive(doc)) {
          int oldLength = oldLengths == null ? 0 : oldLengths[doc];
          int first = positions ? postings.nextPosition() : TermRule.UNKNOWN;
          int freq = rule.freq(term, postings.freq(), first, oldLength);
          if (lengths.addAndGet(doc, freq) < 0) {
            throw UserException.unlessDamaged(
                "a document's new length exceeds " + Integer.MAX_VALUE
                    + " tokens: use a smaller scale");
          }
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
