package tdvlucene.common;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiPostingsEnum;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;

/**
 * A term's postings over all segments, with the whole index's document numbers.
 *
 * <p>Does what {@code MultiPostingsEnum} does without its second virtual call for each document
 * and each frequency: it takes the segments' postings from it and reads them one after another.
 * For one thread, and for terms enums of {@code MultiTerms} or of a single segment.
 */
public final class IndexPostings {
  public static final int END = DocIdSetIterator.NO_MORE_DOCS;

  private final List<LeafReaderContext> leaves;
  private final String field;
  private TermsEnum terms;
  private PostingsEnum whole;
  private MultiPostingsEnum parts;
  private int part;
  private int lastPart;
  private PostingsEnum current;
  private int base;

  public IndexPostings(IndexReader reader, String field) {
    this.leaves = reader.leaves();
    this.field = field;
  }

  /** Goes before the first posting of the term at which {@code terms} stands. */
  public void reset(TermsEnum terms, int flags) throws IOException {
    this.terms = terms;
    whole = terms.postings(whole, flags);
    parts = whole instanceof MultiPostingsEnum several ? several : null;
    lastPart = parts == null ? 0 : parts.getNumSubs() - 1;
    enter(0);
  }

  private void enter(int next) {
    part = next;
    current = parts == null ? whole : parts.getSubs()[next].postingsEnum;
    base = parts == null ? 0 : Lucene.start(parts.getSubs()[next].slice);
  }

  /** Moves to the next document and returns it; {@link #END} after the last. */
  public int next() throws IOException {
    try {
      int next = current.nextDoc();
      while (next == END && part < lastPart) {
        enter(part + 1);
        next = current.nextDoc();
      }
      return next == END ? END : base + next;
    } catch (IOException | RuntimeException e) {
      throw locate(e);
    }
  }

  /** Moves to the first document not before {@code target}, which lies ahead. */
  public int advance(int target) throws IOException {
    try {
      int next = current.advance(Math.max(target - base, 0));
      while (next == END && part < lastPart) {
        enter(part + 1);
        next = current.advance(Math.max(target - base, 0));
      }
      return next == END ? END : base + next;
    } catch (IOException | RuntimeException e) {
      throw locate(e);
    }
  }

  public int freq() throws IOException {
    return current.freq();
  }

  /** Where the current document has the term next: first, when it is asked for the first time. */
  public int nextPosition() throws IOException {
    try {
      return current.nextPosition();
    } catch (IOException | RuntimeException e) {
      throw locate(e);
    }
  }

  /** The current segment's enum, for positions and what hangs on them. */
  public PostingsEnum occurrences() {
    return current;
  }

  private IOException locate(Exception thrown) throws IOException {
    LeafReaderContext leaf = leaves.get(ReaderUtil.subIndex(base, leaves));
    String segment = Index.segmentOf(leaf).getSegmentName();
    return new Failures.Located(thrown, segment, field, terms.term());
  }
}
