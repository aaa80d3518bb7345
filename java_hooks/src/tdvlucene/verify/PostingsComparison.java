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
import tdvlucene.rules.FirstPositions;
import tdvlucene.rules.TermTable;

/** Compares a field's terms and postings with what a rule makes of the source's. */
final class PostingsComparison {
  private static final int END = IndexPostings.END;

  private final Job job;
  private final String field;
  private final ComparedIndex source;
  private final ComparedIndex pruned;

  private final ComparedField target;

  /** The source's terms; null when it has none. */
  final Terms before;

  private final Terms after;
  private final boolean occurrences;
  final LongAdder postings = new LongAdder();
  final LongAdder tokens = new LongAdder();

  PostingsComparison(Job job, ComparedIndex source, ComparedIndex pruned, ComparedField target)
      throws IOException {
    this.job = job;
    this.field = target.field;
    this.source = source;
    this.pruned = pruned;
    this.target = target;
    this.before = MultiTerms.getTerms(source.reader, field);
    this.after = MultiTerms.getTerms(pruned.reader, field);
    this.occurrences =
        target.rule.keepsFrequencies() && before != null && before.hasPositions() && after != null;
  }

  /** Compares what the postings hold besides documents and frequencies; call it first. */
  void compareKinds() {
    if (before == null || after == null) {
      return;
    }
    boolean whole = target.rule.keepsFrequencies();
    try {
      Difference.require("has frequencies", before.hasFreqs(), after.hasFreqs());
      Difference.require("has positions", whole && before.hasPositions(), after.hasPositions());
      Difference.require("has offsets", whole && before.hasOffsets(), after.hasOffsets());
      // All documents with payloads may be deleted; a missing payload is told where it is missing.
      if (after.hasPayloads()) {
        Difference.require("has payloads", whole && before.hasPayloads(), true);
      }
    } catch (Difference e) {
      throw e.at("field", field);
    }
  }

  /** Compares the statistics Lucene keeps with what was counted; call it last. */
  void compareStatistics(long documents) throws IOException {
    if (pruned.reader.hasDeletions()) {
      return; // Lucene's own include deleted documents
    }
    try {
      boolean any = after != null;
      Difference.require("sum of document frequencies", postings.sum(),
          any ? after.getSumDocFreq() : 0);
      Difference.require("sum of frequencies", tokens.sum(),
          any ? after.getSumTotalTermFreq() : 0);
      if (documents >= 0) {
        Difference.require("documents with a term", documents, any ? after.getDocCount() : 0);
      }
    } catch (Difference e) {
      throw e.at("field", field);
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

  private final class Range {
    private final int[] lengths;
    private final TermsEnum old = before == null ? null : before.iterator();
    private final TermsEnum found = after == null ? null : after.iterator();
    private final TermTable.Cursor cursor = target.table == null ? null : target.table.cursor();
    private final IndexPostings oldPostings = new IndexPostings(source.reader, field);
    private final IndexPostings newPostings = new IndexPostings(pruned.reader, field);
    private final boolean positions = target.rule.readsPositions();
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
        long count = compareTerm(expected, there);
        if (there && count == 0) {
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
      if (each == null) {
        return null;
      }
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
      int number = 0;
      if (cursor != null) {
        if (!cursor.advance(term)) {
          requireNoLivePosting(term);
          return 0;
        }
        number = cursor.number();
        if (target.rule.drops(number)) {
          return 0;
        }
      }
      return comparePostings(term, number, there);
    }

    private void requireNoLivePosting(BytesRef term) throws IOException {
      oldPostings.reset(old, PostingsEnum.NONE);
      for (int doc = oldPostings.next(); doc != END; doc = oldPostings.next()) {
        if (source.live.of(doc) >= 0) {
          throw UserException.unlessDamaged(
              "TDVs of another vocabulary: " + source.path + " has the term " + TermText.show(term)
                  + " in field '" + field + "', for which they have none");
        }
      }
    }

    private long comparePostings(BytesRef term, int number, boolean there) throws IOException {
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
        int first = positions ? oldPostings.nextPosition() : FirstPositions.UNKNOWN;
        int freq = target.freq(number, oldPostings.freq(), first, live);
        if (freq > 0) {
          if (!there) {
            throw at(new Difference("term", "at least one posting", "no such term"), term, live);
          }
          comparePosting(term, live, freq, first);
          lengths[live] += freq;
          count++;
          total += freq;
        }
      }
      if (there) {
        requireNoMore(term);
        if (!pruned.reader.hasDeletions()) {
          requireCounts(term, count, total);
        }
      }
      postings.add(count);
      tokens.add(total);
      return count;
    }

    private void comparePosting(BytesRef term, int live, int freq, int first) throws IOException {
      int doc = nextLive();
      int present = doc == END ? END : pruned.live.of(doc);
      if (present != live) {
        Difference difference =
            present < live
                ? new Difference("posting", "none", "frequency " + newPostings.freq())
                : new Difference("posting", "frequency " + freq, "none");
        throw at(difference, term, Math.min(present, live));
      }
      if (newPostings.freq() != freq) {
        throw at(new Difference("frequency", freq, newPostings.freq()), term, live);
      }
      if (occurrences) {
        compareOccurrences(term, live, freq, first);
      }
    }

    /** @param first the source's first position, where it was read already */
    private void compareOccurrences(BytesRef term, int live, int freq, int first)
        throws IOException {
      PostingsEnum a = oldPostings.occurrences();
      PostingsEnum b = newPostings.occurrences();
      for (int i = 0; i < freq; i++) {
        int expected = i == 0 && positions ? first : a.nextPosition();
        int present = b.nextPosition();
        if (expected != present
            || a.startOffset() != b.startOffset()
            || a.endOffset() != b.endOffset()
            || !Objects.equals(a.getPayload(), b.getPayload())) {
          throw at(
              new Difference("occurrence " + i, show(a, expected), show(b, present)), term, live);
        }
      }
    }

    private String show(PostingsEnum each, int position) throws IOException {
      return "position " + position + ", offsets " + each.startOffset() + "-" + each.endOffset()
          + ", payload " + each.getPayload();
    }

    private void requireNoMore(BytesRef term) throws IOException {
      int doc = nextLive();
      if (doc != END) {
        Difference extra = new Difference("posting", "none", "frequency " + newPostings.freq());
        throw at(extra, term, pruned.live.of(doc));
      }
    }

    private void requireCounts(BytesRef term, long count, long total) throws IOException {
      try {
        Difference.require("document frequency", count, found.docFreq());
        Difference.require("total frequency", total, found.totalTermFreq());
      } catch (Difference e) {
        throw e.at("field", field).at("term", TermText.show(term));
      }
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
      Difference extra = new Difference("term", "gone", "document frequency " + found.docFreq());
      if (doc != END) {
        throw at(extra, term, pruned.live.of(doc));
      }
      if (!pruned.reader.hasDeletions()) {
        throw extra.at("field", field).at("term", TermText.show(term));
      }
    }

    private Difference at(Difference difference, BytesRef term, int number) throws IOException {
      return difference
          .at("segment", pruned.segmentOf(number))
          .at("field", field)
          .at("term", TermText.show(term))
          .at("document", pruned.idOf(number));
    }
  }
}
