package tdvlucene.common;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiPostingsEnum;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.BytesRef;

/**
 * Walks the terms of a field and their postings over all segments; documents have their numbers in
 * the whole index, or among the live ones. Of a field that there is not, there is no term.
 *
 * <p>Does what {@code MultiPostingsEnum} does without its second virtual call for each document
 * and each frequency: it takes the segments' postings from it and reads them one after another.
 * For one thread.
 */
public final class FieldPostings {
  public static final int END = DocIdSetIterator.NO_MORE_DOCS;

  private final List<LeafReaderContext> leaves;
  private final String field;
  private final DocumentNumbers live;
  private final TermsEnum terms;
  private BytesRef term;
  private PostingsEnum whole;
  private MultiPostingsEnum parts;
  private int part;
  private int lastPart;
  private PostingsEnum current;
  private int base;

  /** @param reader of an index, or of a segment, whose documents then begin at 0 */
  public FieldPostings(IndexReader reader, String field) throws IOException {
    this(reader, field, null);
  }

  /** @param live numbers the documents, and leaves out postings of the others; null: all have theirs */
  public FieldPostings(IndexReader reader, String field, DocumentNumbers live)
      throws IOException {
    Terms all = MultiTerms.getTerms(reader, field);
    this.terms = all == null ? TermsEnum.EMPTY : all.iterator();
    this.leaves = reader.leaves();
    this.field = field;
    this.live = live;
  }

  /** Moves to the next term, which the next move reuses; null after the last. */
  public BytesRef nextTerm() throws IOException {
    return nextTerm(null);
  }

  /** Moves to the first term that is not below {@code least}; as above where that is null. */
  public BytesRef nextTerm(BytesRef least) throws IOException {
    try {
      boolean isPast = least != null && terms.seekCeil(least) == TermsEnum.SeekStatus.END;
      BytesRef next = least == null ? terms.next() : isPast ? null : terms.term();
      term = next == null ? term : next;
      return next;
    } catch (IOException | RuntimeException e) {
      if (leaves.size() > 1) {
        throw e; // of which segment, nobody knows
      }
      throw locate(e);
    }
  }

  /** Documents with the current term, deleted ones included. */
  public int docFreq() throws IOException {
    return terms.docFreq();
  }

  /** Occurrences of the current term, those in deleted documents included. */
  public long totalTermFreq() throws IOException {
    return terms.totalTermFreq();
  }

  /** Goes before the first posting of the current term. */
  public void readPostings(int flags) throws IOException {
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

  /** Moves to the next document and returns its number; {@link #END} after the last. */
  public int next() throws IOException {
    return advance(0);
  }

  /**
   * As above, to the first document that is not before {@code target}, which lies ahead or is 0; a
   * number in the whole index.
   */
  public int advance(int target) throws IOException {
    try {
      int doc = target <= base ? current.nextDoc() : current.advance(target - base);
      while (true) {
        if (doc != END) {
          int number = live == null ? base + doc : live.of(base + doc);
          if (number >= 0) {
            return number;
          }
          doc = current.nextDoc();
        } else if (part < lastPart) {
          enter(part + 1);
          doc = target <= base ? current.nextDoc() : current.advance(target - base);
        } else {
          return END;
        }
      }
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
    String at = term == null ? "before its first term" : "near the term " + TermText.show(term);
    return new Failures.Located(thrown, "segment " + segment + ", field '" + field + "', " + at);
  }
}
