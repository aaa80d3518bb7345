package tdvlucene.prune;

import org.apache.lucene.index.BaseTermsEnum;
import org.apache.lucene.index.ImpactsEnum;
import org.apache.lucene.util.BytesRef;

/** Terms for a merge, which walks them in order; they cannot be sought. */
abstract class MergeTermsEnum extends BaseTermsEnum {
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

  static UnsupportedOperationException notForMerges() {
    return new UnsupportedOperationException("a merge reads terms in order and asks no more");
  }
}
