package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.index.FilterLeafReader.FilterPostingsEnum;
import org.apache.lucene.index.PostingsEnum;
import tdvlucene.rules.FirstPositions;

/** A term's postings with their new frequencies; those with frequency 0 are dropped. */
final class PrunedPostings extends FilterPostingsEnum {
  private final Pruning pruning;
  private final PrunedTermsEnum terms;
  private final int term;
  private final boolean readsPositions;
  private int freq;

  /** The document's first position; given out once more where {@link #held}. */
  private int first;

  private boolean held;

  PrunedPostings(PostingsEnum in, Pruning pruning, PrunedTermsEnum terms, int term) {
    super(in);
    this.pruning = pruning;
    this.terms = terms;
    this.term = term;
    this.readsPositions = pruning.rule().readsPositions();
  }

  /** What is wrapped, for reuse. */
  PostingsEnum source() {
    return in;
  }

  @Override
  public int nextDoc() throws IOException {
    try {
      return firstKept(in.nextDoc());
    } catch (IOException e) {
      throw pruning.locate(e, terms.term());
    }
  }

  @Override
  public int advance(int target) throws IOException {
    try {
      return firstKept(in.advance(target));
    } catch (IOException e) {
      throw pruning.locate(e, terms.term());
    }
  }

  private int firstKept(int doc) throws IOException {
    for (; doc != NO_MORE_DOCS; doc = in.nextDoc()) {
      first = FirstPositions.of(in, readsPositions);
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
