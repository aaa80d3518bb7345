package tdvlucene.common;

import java.io.IOException;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.BytesRef;

/**
 * Walks the terms of a field and their postings over all segments; documents have their numbers in
 * the whole index, or among the live ones. Of a field that there is not, there is no term.
 *
 * <p>For one thread.
 */
public final class FieldPostings {
  public static final int END = DocIdSetIterator.NO_MORE_DOCS;

  private final DocumentNumbers live;
  private final TermsEnum terms;
  private PostingsEnum postings;

  /** @param reader of an index, or of a segment, whose documents then begin at 0 */
  public FieldPostings(IndexReader reader, String field) throws IOException {
    this(reader, field, null);
  }

  /** @param live numbers the documents, and leaves out postings of the others; null: all have theirs */
  public FieldPostings(IndexReader reader, String field, DocumentNumbers live)
      throws IOException {
    Terms all = MultiTerms.getTerms(reader, field);
    this.terms = all == null ? TermsEnum.EMPTY : all.iterator();
    this.live = live;
  }

  /** Moves to the next term, which the next move reuses; null after the last. */
  public BytesRef nextTerm() throws IOException {
    return terms.next();
  }

  /** Moves to the first term that is not below {@code least}; as above where that is null. */
  public BytesRef nextTerm(BytesRef least) throws IOException {
    if (least == null) {
      return terms.next();
    }
    return terms.seekCeil(least) == TermsEnum.SeekStatus.END ? null : terms.term();
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
    postings = terms.postings(postings, flags);
  }

  /** Moves to the next document and returns its number; {@link #END} after the last. */
  public int next() throws IOException {
    return numbered(postings.nextDoc());
  }

  /**
   * As above, to the first document that is not before {@code target}, which lies ahead; a number in
   * the whole index.
   */
  public int advance(int target) throws IOException {
    return numbered(postings.advance(target));
  }

  /** The number of a document, or of the first one after it that has one. */
  private int numbered(int doc) throws IOException {
    while (live != null && doc != END && live.of(doc) < 0) {
      doc = postings.nextDoc();
    }
    return live == null || doc == END ? doc : live.of(doc);
  }

  public int freq() throws IOException {
    return postings.freq();
  }

  /** Where the current document has the term next: first, when it is asked for the first time. */
  public int nextPosition() throws IOException {
    return postings.nextPosition();
  }

  /** The current posting, for positions and what hangs on them. */
  public PostingsEnum occurrences() {
    return postings;
  }
}
