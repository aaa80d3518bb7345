package tdvlucene.search;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.Impacts;
import org.apache.lucene.index.ImpactsEnum;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.MultiReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.BytesRef;

/**
 * A segment that counts the postings at which its searches stop.
 *
 * <p>Impacts and scores, on which skipping depends, pass unchanged, so a search stops where it
 * would stop without the counting. A posting that is decoded with its block but skipped does not
 * count.
 */
final class CountingReader extends FilterLeafReader {
  private final AtomicLong counter;

  private CountingReader(LeafReader in, AtomicLong counter) {
    super(in);
    this.counter = counter;
  }

  /**
   * A searcher of an index that ranks as another does, and adds to {@code counter}; it is open for
   * as long as that.
   */
  static IndexSearcher like(IndexSearcher searcher, AtomicLong counter) throws IOException {
    Similarity ranks = searcher.getSimilarity();
    IndexReader[] segments =
        searcher.getIndexReader().leaves().stream()
            .map(leaf -> new CountingReader(leaf.reader(), counter))
            .toArray(IndexReader[]::new);
    IndexReader counted = new MultiReader(segments, false);
    return Ranking.ready(ImpactSimilarity.searcher(counted, ranks), ranks);
  }

  @Override
  public Terms terms(String field) throws IOException {
    Terms terms = in.terms(field);
    return terms == null
        ? null
        : new FilterTerms(terms) {
          @Override
          public TermsEnum iterator() throws IOException {
            return counted(in.iterator());
          }
        };
  }

  private TermsEnum counted(TermsEnum terms) {
    return new FilterTermsEnum(terms) {
      @Override
      public PostingsEnum postings(PostingsEnum reuse, int flags) throws IOException {
        return new Counted(in.postings(null, flags), counter);
      }

      @Override
      public ImpactsEnum impacts(int flags) throws IOException {
        return new Counted(in.impacts(flags), counter);
      }
    };
  }

  @Override
  public CacheHelper getCoreCacheHelper() {
    return null;
  }

  @Override
  public CacheHelper getReaderCacheHelper() {
    return null;
  }

  /**
   * Passes on only what is abstract: Lucene 10's bulk methods, which Lucene 9 has not, then go
   * through {@link #nextDoc}, and are counted.
   */
  private static final class Counted extends ImpactsEnum {
    private final PostingsEnum in; // an ImpactsEnum where impacts are asked for
    private final AtomicLong counter;

    Counted(PostingsEnum in, AtomicLong counter) {
      this.in = in;
      this.counter = counter;
    }

    private int stopAt(int doc) {
      if (doc != NO_MORE_DOCS) {
        counter.incrementAndGet();
      }
      return doc;
    }

    @Override
    public int nextDoc() throws IOException {
      return stopAt(in.nextDoc());
    }

    @Override
    public int advance(int target) throws IOException {
      return stopAt(in.advance(target));
    }

    @Override
    public void advanceShallow(int target) throws IOException {
      ((ImpactsEnum) in).advanceShallow(target);
    }

    @Override
    public Impacts getImpacts() throws IOException {
      return ((ImpactsEnum) in).getImpacts();
    }

    @Override
    public int docID() {
      return in.docID();
    }

    @Override
    public long cost() {
      return in.cost();
    }

    @Override
    public int freq() throws IOException {
      return in.freq();
    }

    @Override
    public int nextPosition() throws IOException {
      return in.nextPosition();
    }

    @Override
    public int startOffset() throws IOException {
      return in.startOffset();
    }

    @Override
    public int endOffset() throws IOException {
      return in.endOffset();
    }

    @Override
    public BytesRef getPayload() throws IOException {
      return in.getPayload();
    }
  }
}
