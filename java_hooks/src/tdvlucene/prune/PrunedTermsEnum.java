package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.index.BaseTermsEnum;
import org.apache.lucene.index.ImpactsEnum;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.rules.TermTable;

/**
 * Walks the terms that keep postings, in step with the vocabulary; they cannot be sought.
 *
 * <p>A term whose postings are all dropped still appears here; Lucene's terms writer leaves out
 * terms without documents.
 */
final class PrunedTermsEnum extends BaseTermsEnum {
  private final TermsEnum in;
  private final Pruning pruning;
  private final TermTable.Cursor cursor;

  PrunedTermsEnum(TermsEnum in, Pruning pruning) {
    this.in = in;
    this.pruning = pruning;
    this.cursor = pruning.table().cursor();
  }

  @Override
  public BytesRef next() throws IOException {
    BytesRef term = null;
    try {
      for (term = in.next(); term != null; term = in.next()) {
        boolean hasLivePosting = cursor.advance(term); // the survey refused all other absences
        if (hasLivePosting && !pruning.rule().drops(cursor.number())) {
          pruning.job().advance(in.docFreq());
          return term;
        }
      }
      return null;
    } catch (IOException e) {
      throw pruning.locate(e, term);
    }
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

  @Override
  public ImpactsEnum impacts(int flags) {
    throw notForMerges();
  }

  @Override
  public SeekStatus seekCeil(BytesRef text) {
    throw notForMerges();
  }

  @Override
  public void seekExact(long ord) {
    throw notForMerges();
  }

  @Override
  public long ord() {
    throw notForMerges();
  }

  private static UnsupportedOperationException notForMerges() {
    return new UnsupportedOperationException("a merge reads terms in order and asks no more");
  }
}
