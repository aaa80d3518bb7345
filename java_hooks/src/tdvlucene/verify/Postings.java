package tdvlucene.verify;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.IndexPostings;
import tdvlucene.common.Job;
import tdvlucene.common.TermText;
import tdvlucene.common.UserException;
import tdvlucene.rules.PostingRule;
import tdvlucene.rules.TermTable;

/** Compares a field's terms and postings with what a rule makes of the source's. */
final class Postings {
  private static final int END = IndexPostings.END;

  private final Job job;
  private final String of;
  private final String field;
  private final Side source;
  private final Side pruned;
  private final ComparedField target;

  /** The source's terms; null when it has none. */
  final Terms before;

  private final Terms after;
  private final boolean occurrences;
  final LongAdder postings = new LongAdder();
  final LongAdder tokens = new LongAdder();

  Postings(Job job, Side source, Side pruned, ComparedField target) throws IOException {
    this.job = job;
    this.of = target.plan().source;
    this.field = target.plan().field;
    this.source = source;
    this.pruned = pruned;
    this.target = target;
    this.before = MultiTerms.getTerms(source.reader, of);
    this.after = MultiTerms.getTerms(pruned.reader, field);
    boolean whole = target.rule().keepsFrequencies();
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
    boolean any = after != null;
    Difference.require("sum of document frequencies", postings.sum(),
        any ? after.getSumDocFreq() : 0);
    Difference.require("sum of frequencies", tokens.sum(), any ? after.getSumTotalTermFreq() : 0);
    if (documents >= 0) {
      Difference.require("documents with a term", documents, any ? after.getDocCount() : 0);
    }
  }

  /**
   * Compares the terms from {@code first} (null: the beginning) up to {@code stop} (null: the end).
   *
   * @param lengths where to add each live document's new tokens
   */
  void compare(BytesRef first, BytesRef stop, int[] lengths) throws IOException {
    new Range(lengths).compare(first, stop);
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

  private final class Range {
    private final int[] lengths;
    private final TermsEnum old = before == null ? TermsEnum.EMPTY : before.iterator();
    private final TermsEnum found = after == null ? TermsEnum.EMPTY : after.iterator();
    private final TermTable.Cursor cursor =
        target.plan().table == null ? null : target.plan().table.cursor();
    private final IndexPostings oldPostings = new IndexPostings(source.reader, of);
    private final IndexPostings newPostings = new IndexPostings(pruned.reader, field);
    private final boolean positions = target.rule().readsPositions();
    private final int flags = occurrences ? PostingsEnum.ALL : PostingsEnum.FREQS;

    private Range(int[] lengths) throws IOException {
      this.lengths = lengths;
    }

    private void compare(BytesRef first, BytesRef stop) throws IOException {
      BytesRef expected = seek(old, first);
      BytesRef present = seek(found, first);
      for (; isBefore(expected, stop); expected = old.next()) {
        for (; present != null && present.compareTo(expected) < 0; present = found.next()) {
          requireDeleted(present);
        }
        boolean there = present != null && present.equals(expected);
        if (compareTerm(expected, there) == 0 && there) {
          requireDeleted(present);
        }
        present = there ? found.next() : present;
        job.advance(old.docFreq());
      }
      for (; isBefore(present, stop); present = found.next()) {
        requireDeleted(present);
      }
    }

    private BytesRef seek(TermsEnum each, BytesRef first) throws IOException {
      if (first == null) {
        return each.next();
      }
      return each.seekCeil(first) == TermsEnum.SeekStatus.END ? null : each.term();
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
      if (target.rule().drops(number)) {
        return 0;
      }
      try {
        return comparePostings(number, there);
      } catch (Difference e) {
        throw e.at("term", TermText.show(term));
      }
    }

    private void requireNoLivePosting(BytesRef term) throws IOException {
      oldPostings.reset(old, PostingsEnum.NONE);
      for (int doc = oldPostings.next(); doc != END; doc = oldPostings.next()) {
        if (source.live.of(doc) >= 0) {
          throw UserException.unlessDamaged(
              "TDVs of another vocabulary: " + source.index + " has the term "
                  + TermText.show(term) + " in field '" + of + "', for which they have none");
        }
      }
    }

    private long comparePostings(int number, boolean there) throws IOException {
      oldPostings.reset(old, positions ? flags | PostingsEnum.POSITIONS : flags);
      if (there) {
        newPostings.reset(found, flags);
      }
      long count = 0;
      long total = 0;
      for (int doc = oldPostings.next(); doc != END; doc = oldPostings.next()) {
        int live = source.live.of(doc);
        if (live < 0) {
          continue;
        }
        int first = positions ? oldPostings.nextPosition() : PostingRule.UNKNOWN;
        int freq = target.freq(number, oldPostings.freq(), first, live);
        if (freq > 0) {
          if (!there) {
            throw pruned.at(
                live, new Difference("term", "at least one posting", "no such term"));
          }
          comparePosting(live, freq, first);
          lengths[live] += freq;
          count++;
          total += freq;
        }
      }
      if (there) {
        int doc = nextLive();
        if (doc != END) {
          throw extra(pruned.live.of(doc));
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
      int doc = nextLive();
      int present = doc == END ? END : pruned.live.of(doc);
      if (present < live) {
        throw extra(present);
      }
      if (present > live) {
        throw pruned.at(live, new Difference("posting", "frequency " + freq, "none"));
      }
      try {
        if (newPostings.freq() != freq) {
          throw new Difference("frequency", freq, newPostings.freq());
        }
        if (occurrences) {
          compareOccurrences(
              oldPostings.occurrences(), newPostings.occurrences(), freq,
              positions ? first : null, "");
        }
      } catch (Difference e) {
        throw pruned.at(live, e);
      }
    }

    private Difference extra(int number) throws IOException {
      return pruned.at(
          number, new Difference("posting", "none", "frequency " + newPostings.freq()));
    }

    /** The pruned index's next posting of a document that it has not deleted. */
    private int nextLive() throws IOException {
      int doc = newPostings.next();
      while (doc != END && pruned.live.of(doc) < 0) {
        doc = newPostings.next();
      }
      return doc;
    }

    /** Only documents that are deleted by now may have a term that is to be gone. */
    private void requireDeleted(BytesRef term) throws IOException {
      newPostings.reset(found, PostingsEnum.FREQS);
      int doc = nextLive();
      if (doc != END || !pruned.reader.hasDeletions()) {
        Difference extra = new Difference("term", "gone", "document frequency " + found.docFreq());
        extra.at("term", TermText.show(term));
        throw doc == END ? extra : pruned.at(pruned.live.of(doc), extra);
      }
    }
  }
}
