package tdvlucene.prune;

import java.io.IOException;
import java.util.function.LongConsumer;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.rules.TermTable;

/**
 * Walks the terms that keep postings, in step with the vocabulary.
 *
 * <p>A term whose postings are all dropped still appears here; Lucene's terms writer leaves out
 * terms without documents.
 */
final class PrunedTermsEnum extends MergeTermsEnum {
  private final TermsEnum in;
  private final Pruning pruning;
  private final LongConsumer progress;
  private final TermTable.Cursor cursor;

  /** @param progress told the postings of each term met; may throw to stop */
  PrunedTermsEnum(TermsEnum in, Pruning pruning, LongConsumer progress) {
    this.in = in;
    this.pruning = pruning;
    this.progress = progress;
    this.cursor = pruning.table().cursor();
  }

  @Override
  public BytesRef next() throws IOException {
    BytesRef term = null;
    try {
      for (term = in.next(); term != null; term = in.next()) {
        boolean hasLivePosting = cursor.advance(term); // the survey refused all other absences
        if (hasLivePosting && !pruning.rule().drops(cursor.number())) {
          progress.accept(in.docFreq());
          return term;
        }
      }
      return null;
    } catch (IOException e) {
      throw pruning.locate(e, term);
    }
  }

  /** The current term's number in the vocabulary. */
  int number() {
    return cursor.number();
  }

  @Override
  public BytesRef term() throws IOException {
    return in.term();
  }

  @Override
  public PostingsEnum postings(PostingsEnum reuse, int flags) throws IOException {
    PostingsEnum old = reuse instanceof PrunedPostings used ? used.source() : null;
    int asked = pruning.rule().keepsFrequencies() ? flags : PostingsEnum.FREQS;
    int read = pruning.rule().readsPositions() ? PostingsEnum.POSITIONS : PostingsEnum.FREQS;
    try {
      PostingsEnum postings = in.postings(old, asked | read);
      return new PrunedPostings(postings, pruning, this, cursor.number());
    } catch (IOException e) {
      throw pruning.locate(e, in.term());
    }
  }

  @Override
  public int docFreq() {
    throw notForMerges();
  }

  @Override
  public long totalTermFreq() {
    throw notForMerges();
  }
}
