package tdvlucene.search;

import java.io.IOException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.Impacts;
import org.apache.lucene.index.ImpactsEnum;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;

/**
 * A reader that counts the postings at which its searches stop; for one thread.
 *
 * <p>Impacts and scores, on which skipping depends, pass unchanged, so a search stops where it
 * would stop without the counting. A posting that is decoded with its block but skipped does not
 * count.
 */
final class CountingReader extends FilterDirectoryReader {
  private final Counter counter;

  CountingReader(DirectoryReader in) throws IOException {
    this(in, new Counter());
  }

  private CountingReader(DirectoryReader in, Counter counter) throws IOException {
    super(
        in,
        new SubReaderWrapper() {
          @Override
          public LeafReader wrap(LeafReader reader) {
            return new Leaf(reader, counter);
          }
        });
    this.counter = counter;
  }

  /** Postings stopped at since the last call. */
  long takeCount() {
    long count = counter.postings;
    counter.postings = 0;
    return count;
  }

  @Override
  protected DirectoryReader doWrapDirectoryReader(DirectoryReader reader) throws IOException {
    return new CountingReader(reader, counter);
  }

  @Override
  public CacheHelper getReaderCacheHelper() {
    return null;
  }

  private static final class Counter {
    long postings;
  }

  private static final class Leaf extends FilterLeafReader {
    private final Counter counter;

    Leaf(LeafReader in, Counter counter) {
      super(in);
      this.counter = counter;
    }

    @Override
    public Terms terms(String field) throws IOException {
      Terms terms = in.terms(field);
      return terms == null ? null : new CountedTerms(terms, counter);
    }

    @Override
    public CacheHelper getCoreCacheHelper() {
      return null;
    }

    @Override
    public CacheHelper getReaderCacheHelper() {
      return null;
    }
  }

  private static final class CountedTerms extends FilterLeafReader.FilterTerms {
    private final Counter counter;

    CountedTerms(Terms in, Counter counter) {
      super(in);
      this.counter = counter;
    }

    @Override
    public TermsEnum iterator() throws IOException {
      return new CountedTermsEnum(in.iterator(), counter);
    }
  }

  private static final class CountedTermsEnum extends FilterLeafReader.FilterTermsEnum {
    private final Counter counter;

    CountedTermsEnum(TermsEnum in, Counter counter) {
      super(in);
      this.counter = counter;
    }

    @Override
    public PostingsEnum postings(PostingsEnum reuse, int flags) throws IOException {
      return new Counted(in.postings(null, flags), counter);
    }

    @Override
    public ImpactsEnum impacts(int flags) throws IOException {
      return new Counted(in.impacts(flags), counter);
    }
  }

  /**
   * Passes on only what is abstract: Lucene 10's bulk methods, which Lucene 9 has not, then go
   * through {@link #nextDoc}, and are counted.
   */
  private static final class Counted extends ImpactsEnum {
    private final PostingsEnum in; // an ImpactsEnum where impacts are asked for
    private final Counter counter;

    Counted(PostingsEnum in, Counter counter) {
      this.in = in;
      this.counter = counter;
    }

    private int stopAt(int doc) {
      if (doc != NO_MORE_DOCS) {
        counter.postings++;
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
