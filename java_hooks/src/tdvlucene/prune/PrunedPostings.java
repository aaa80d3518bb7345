package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.index.FilterLeafReader.FilterPostingsEnum;
import org.apache.lucene.index.FilterLeafReader.FilterTermsEnum;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.rules.TermRule;
import tdvlucene.rules.TermTable;

/**
 * Walks the terms that keep postings, in step with the vocabulary; they cannot be sought.
 *
 * <p>A term whose postings are all dropped still appears here; Lucene's terms writer leaves out
 * terms without documents.
 */
final class PrunedPostings extends FilterTermsEnum {
  private final Pruning pruning;
  private final TermRule rule;
  private final TermTable.Cursor cursor;

  PrunedPostings(TermsEnum in, Pruning pruning) {
    super(in);
    this.pruning = pruning;
    this.rule = pruning.target().rule;
    this.cursor = pruning.target().rule.table().cursor();
  }

  @Override
  public BytesRef next() throws IOException {
    for (BytesRef term = in.next(); term != null; term = in.next()) {
      boolean hasLivePosting = cursor.advance(term); // the survey refused all other absences
      if (hasLivePosting && !rule.drops(cursor.number())) {
        pruning.job().advance(in.docFreq());
        return term;
      }
    }
    return null;
  }

  @Override
  public PostingsEnum postings(PostingsEnum reuse, int flags) throws IOException {
    PostingsEnum old = reuse instanceof OfTerm used ? used.source() : null;
    int asked = rule.keepsFrequencies() ? flags : PostingsEnum.FREQS;
    int read = rule.readsPositions() ? PostingsEnum.POSITIONS : PostingsEnum.FREQS;
    return new OfTerm(in.postings(old, asked | read));
  }

  /** A term's postings with their new frequencies; those with frequency 0 are dropped. */
  private final class OfTerm extends FilterPostingsEnum {
    private final int term = cursor.number();
    private final boolean readsPositions = rule.readsPositions();
    private int freq;

    /** The document's first position; given out once more where {@link #held}. */
    private int first;

    private boolean held;

    private OfTerm(PostingsEnum in) {
      super(in);
    }

    private PostingsEnum source() {
      return in;
    }

    @Override
    public int nextDoc() throws IOException {
      for (int doc = in.nextDoc(); doc != NO_MORE_DOCS; doc = in.nextDoc()) {
        first = readsPositions ? in.nextPosition() : TermRule.UNKNOWN;
        freq = pruning.freq(term, in.freq(), first, doc);
        if (freq > 0) {
          held = readsPositions;
          return doc;
        }
      }
      return NO_MORE_DOCS;
    }

    @Override
    public int freq() {
      return freq;
    }

    @Override
    public int nextPosition() throws IOException {
      if (held) {
        held = false; // the source stands there: offsets and payload are that position's
        return first;
      }
      return in.nextPosition();
    }
  }
}
