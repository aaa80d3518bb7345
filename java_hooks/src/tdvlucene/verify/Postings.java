package tdvlucene.verify;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.FieldPostings;
import tdvlucene.common.Job;
import tdvlucene.common.TermText;
import tdvlucene.common.UserException;
import tdvlucene.rules.PlannedField;
import tdvlucene.rules.TermRule;
import tdvlucene.rules.TermTable;

/** Compares a field's terms, postings and norms with what a rule makes of the source's. */
final class Postings {
  /**
   * A field to be compared, and what pruning should have made of it.
   *
   * @param oldLengths length of each live document for the rule; null unless it reads them
   */
  record ComparedField(PlannedField plan, int[] oldLengths) {
    /** A posting's new frequency, as the rewriter asks for it. */
    int freq(int term, int tf, int first, int number) {
      return plan.rule.freq(term, tf, first, oldLengths == null ? 0 : oldLengths[number]);
    }
  }

  private static final int END = FieldPostings.END;

  private final Job job;
  private final String of;
  private final String field;
  private final Side source;
  private final Side pruned;
  private final ComparedField target;
  private final boolean occurrences;
  final LongAdder postings = new LongAdder();
  final LongAdder tokens = new LongAdder();

  Postings(Job job, Side source, Side pruned, ComparedField target) throws IOException {
    this.job = job;
    this.of = target.plan.source;
    this.field = target.plan.field;
    this.source = source;
    this.pruned = pruned;
    this.target = target;
    Terms before = MultiTerms.getTerms(source.reader, of);
    Terms after = MultiTerms.getTerms(pruned.reader, field);
    boolean whole = target.plan.rule.keepsFrequencies();
    this.occurrences = whole && before != null && before.hasPositions() && after != null;
    if (before != null && after != null) {
      Difference.require("has frequencies", before.hasFreqs(), after.hasFreqs());
      Difference.require("has positions", whole && before.hasPositions(), after.hasPositions());
      Difference.require("has offsets", whole && before.hasOffsets(), after.hasOffsets());
      // All documents with payloads may be deleted; a missing payload is told where it is missing.
      if (after.hasPayloads()) {
        Difference.require("has payloads", whole && before.hasPayloads(), true);
      }
    }
  }

  /**
   * Compares the statistics Lucene keeps with what was counted; call it last.
   *
   * @param documents those with a term; -1 where it is not known
   */
  void compareStatistics(long documents) throws IOException {
    if (pruned.reader.hasDeletions()) {
      return; // Lucene's own include deleted documents
    }
    IndexReader after = pruned.reader;
    Difference.require(
        "sum of document frequencies", postings.sum(), after.getSumDocFreq(field));
    Difference.require("sum of frequencies", tokens.sum(), after.getSumTotalTermFreq(field));
    if (documents >= 0) {
      Difference.require("documents with a term", documents, after.getDocCount(field));
    }
  }

  /**
   * Compares the norms of all documents with the source's, or with those of the new lengths.
   *
   * @param tokens of each live document before; null unless norms depend on them
   * @param lengths new tokens of each live document; null where norms are to stay
   */
  void compareNorms(int[] tokens, int[] lengths) throws IOException {
    PlannedField plan = target.plan;
    BakedNorms baked = plan.isBaked() ? plan.bakeFor(plan.average) : null;
    NumericDocValues old = MultiDocValues.getNormValues(source.reader, of);
    NumericDocValues found = MultiDocValues.getNormValues(pruned.reader, field);
    for (int number = 0; number < source.live.size(); number++) {
      Long expected = norm(old, source.live.doc(number));
      Long present = norm(found, pruned.live.doc(number));
      boolean isNew = expected != null && present != null && lengths != null;
      if (isNew) {
        expected = plan.norm(expected, tokens, number, lengths[number]);
      }
      if (!Objects.equals(expected, present)) {
        String wanted = Objects.toString(expected, "none");
        if (isNew && baked != null && lengths[number] > 0) {
          wanted = "one for K = " + baked.wanted(lengths[number]) + ", not " + baked.seen(present);
        }
        throw pruned.at(
            number, new Difference("norm", wanted, Objects.toString(present, "none")));
      }
    }
  }

  private static Long norm(NumericDocValues norms, int doc) throws IOException {
    return norms != null && norms.advanceExact(doc) ? norms.longValue() : null;
  }

  /** @param read the old position that was read already; null for none */
  static void compareOccurrences(
      PostingsEnum old, PostingsEnum found, int freq, Integer read, String where)
      throws IOException {
    for (int i = 0; i < freq; i++) {
      int expected = i == 0 && read != null ? read : old.nextPosition();
      int present = found.nextPosition();
      if (expected != present
          || old.startOffset() != found.startOffset()
          || old.endOffset() != found.endOffset()
          || !Objects.equals(old.getPayload(), found.getPayload())) {
        throw new Difference("occurrence " + i + where, show(old, expected), show(found, present));
      }
    }
  }

  private static String show(PostingsEnum each, int position) throws IOException {
    return "position " + position + ", offsets " + each.startOffset() + "-" + each.endOffset()
        + ", payload " + each.getPayload();
  }

  /** Some terms of the field; one thread's. */
  final class Range {
    private final AtomicIntegerArray lengths;
    private final FieldPostings old = new FieldPostings(source.reader, of, source.live);
    private final FieldPostings found = new FieldPostings(pruned.reader, field, pruned.live);
    private final TermTable.Cursor cursor =
        target.plan.rule.table() == null ? null : target.plan.rule.table().cursor();
    private final boolean positions = target.plan.rule.readsPositions();
    private final int flags = occurrences ? PostingsEnum.ALL : PostingsEnum.FREQS;

    /** @param lengths where to add each live document's new tokens */
    Range(AtomicIntegerArray lengths) throws IOException {
      this.lengths = lengths;
    }

    /**
     * Compares the terms from {@code first} (null: the beginning) up to {@code stop} (null: the
     * end).
     */
    void compare(BytesRef first, BytesRef stop) throws IOException {
      BytesRef expected = old.nextTerm(first);
      BytesRef present = found.nextTerm(first);
      for (; isBefore(expected, stop); expected = old.nextTerm()) {
        for (; isBefore(present, expected); present = found.nextTerm()) {
          requireDeleted(present);
        }
        boolean there = expected.equals(present);
        if (compareTerm(expected, there) == 0 && there) {
          requireDeleted(present);
        }
        present = there ? found.nextTerm() : present;
        job.advance(old.docFreq());
      }
      for (; isBefore(present, stop); present = found.nextTerm()) {
        requireDeleted(present);
      }
    }

    private boolean isBefore(BytesRef term, BytesRef stop) {
      return term != null && (stop == null || term.compareTo(stop) < 0);
    }

    /** Returns the postings the term should have. */
    private long compareTerm(BytesRef term, boolean there) throws IOException {
      if (cursor != null && !cursor.advance(term)) {
        requireNoLivePosting(term);
        return 0;
      }
      int number = cursor == null ? 0 : cursor.number();
      if (target.plan.rule.drops(number)) {
        return 0;
      }
      try {
        return comparePostings(number, there);
      } catch (Difference e) {
        throw e.at("term", TermText.show(term));
      }
    }

    private void requireNoLivePosting(BytesRef term) throws IOException {
      old.readPostings(PostingsEnum.NONE);
      if (old.next() != END) {
        throw UserException.unlessDamaged(
            "TDVs of another vocabulary: " + source.index + " has the term "
                + TermText.show(term) + " in field '" + of + "', for which they have none");
      }
    }

    private long comparePostings(int number, boolean there) throws IOException {
      old.readPostings(positions ? flags | PostingsEnum.POSITIONS : flags);
      if (there) {
        found.readPostings(flags);
      }
      long count = 0;
      long total = 0;
      for (int live = old.next(); live != END; live = old.next()) {
        int first = positions ? old.nextPosition() : TermRule.UNKNOWN;
        int freq = target.freq(number, old.freq(), first, live);
        if (freq > 0) {
          if (!there) {
            throw pruned.at(
                live, new Difference("term", "at least one posting", "no such term"));
          }
          comparePosting(live, freq, first);
          lengths.addAndGet(live, freq);
          count++;
          total += freq;
        }
      }
      if (there) {
        int more = found.next();
        if (more != END) {
          throw extra(more);
        }
        if (!pruned.reader.hasDeletions()) {
          Difference.require("document frequency", count, found.docFreq());
          Difference.require("total frequency", total, found.totalTermFreq());
        }
      }
      postings.add(count);
      tokens.add(total);
      return count;
    }

    private void comparePosting(int live, int freq, int first) throws IOException {
      int present = found.next();
      if (present < live) {
        throw extra(present);
      }
      if (present > live) {
        throw pruned.at(live, new Difference("posting", "frequency " + freq, "none"));
      }
      try {
        if (found.freq() != freq) {
          throw new Difference("frequency", freq, found.freq());
        }
        if (occurrences) {
          compareOccurrences(
              old.occurrences(), found.occurrences(), freq, positions ? first : null, "");
        }
      } catch (Difference e) {
        throw pruned.at(live, e);
      }
    }

    private Difference extra(int number) throws IOException {
      return pruned.at(
          number, new Difference("posting", "none", "frequency " + found.freq()));
    }

    /** Only documents that are deleted by now may have a term that is to be gone. */
    private void requireDeleted(BytesRef term) throws IOException {
      found.readPostings(PostingsEnum.FREQS);
      int number = found.next();
      if (number != END || !pruned.reader.hasDeletions()) {
        Difference extra = new Difference("term", "gone", "document frequency " + found.docFreq());
        extra.at("term", TermText.show(term));
        throw number == END ? extra : pruned.at(number, extra);
      }
    }
  }
}
