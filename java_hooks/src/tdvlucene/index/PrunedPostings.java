package tdvlucene.index;

import java.io.IOException;
import org.apache.lucene.index.FilterLeafReader.FilterPostingsEnum;
import org.apache.lucene.index.PostingsEnum;

/** A term's postings with their new frequencies, without those that fell to 0. */
final class PrunedPostings extends FilterPostingsEnum {
  private final Pruning pruning;
  private final PrunedTermsEnum terms;
  private final int term;
  private int freq;
  private int kept;

  PrunedPostings(PostingsEnum in, Pruning pruning, PrunedTermsEnum terms, int term) {
    super(in);
    this.pruning = pruning;
    this.terms = terms;
    this.term = term;
  }

  /** What is wrapped, for reuse. */
  PostingsEnum source() {
    return in;
  }

  @Override
  public int nextDoc() throws IOException {
    try {
      for (int doc = in.nextDoc(); doc != NO_MORE_DOCS; doc = in.nextDoc()) {
        freq = pruning.freq(term, in.freq(), doc);
        if (freq > 0) {
          kept++;
          return doc;
        }
      }
      pruning.job.advance(kept);
      return NO_MORE_DOCS;
    } catch (IOException e) {
      throw pruning.locate(e, terms.term());
    }
  }

  @Override
  public int freq() {
    return freq;
  }

  @Override
  public int advance(int target) throws IOException {
    return slowAdvance(target);
  }
}
