package tdvlucene.search;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;

/** What the hot field of {@link Tiers} finds for a query; one thread's. */
final class HotSearch {
  /** More postings than these are searched by block maxima, which skip most of long lists. */
  private static final int MOST_SCORED = 1 << 16;

  private final IndexSearcher searcher;
  private final List<AskedTerm> asked;
  private final double margin;
  private final long postings;

  /** All postings asked for; null where there are too many to read. */
  private final ShortLists lists;

  HotSearch(IndexSearcher searcher, String field, List<AskedTerm> asked, double margin)
      throws IOException {
    this.searcher = searcher;
    this.asked = asked;
    this.margin = margin;
    ScoredTerms terms = new ScoredTerms(searcher, field, asked);
    postings = terms.postings;
    lists = postings <= MOST_SCORED ? new ShortLists(terms) : null;
  }

  Query query() {
    return AskedTerm.query(asked);
  }

  /**
   * The best documents.
   *
   * @param hits how many are wanted in the end
   * @param most how many may be returned: of those behind the hits, what is within the margin
   */
  ScoreDoc[] best(int hits, int most) throws IOException {
    if (lists != null) {
      int all = (int) Math.max(1, postings);
      return lists.search(new NearBest(Math.min(hits, all), Math.min(most, all), margin));
    }
    return hits < most && margin > 0
        ? searcher.search(query(), new NearBest(hits, most, margin))
        : searcher.search(query(), most).scoreDocs;
  }
}
