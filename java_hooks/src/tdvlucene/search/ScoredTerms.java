package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TermState;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.Similarity.SimScorer;

/** The terms that a query asks of a field, looked up once: how each scores, and its postings. */
final class ScoredTerms {
  /** A term that some document has. */
  record Scored(Term term, SimScorer scorer, TermState[] at) {}

  final List<Scored> scored;
  final List<LeafReaderContext> leaves;

  /** How many postings all of them have. */
  final long postings;

  private final TermsEnum[] dictionaries;
  private final String field;

  ScoredTerms(IndexSearcher searcher, String field, List<AskedTerm> asked) throws IOException {
    this.field = field;
    leaves = searcher.getIndexReader().leaves();
    dictionaries = new TermsEnum[leaves.size()];
    for (int leaf = 0; leaf < dictionaries.length; leaf++) {
      Terms all = leaves.get(leaf).reader().terms(field);
      dictionaries[leaf] = all == null ? TermsEnum.EMPTY : all.iterator();
    }
    scored = new ArrayList<>(asked.size());
    CollectionStatistics collection = null;
    long sum = 0;
    for (AskedTerm each : asked) {
      int docFreq = 0;
      long totalTermFreq = 0;
      TermState[] at = new TermState[dictionaries.length];
      for (int leaf = 0; leaf < at.length; leaf++) {
        TermsEnum dictionary = dictionaries[leaf];
        if (dictionary.seekExact(each.term().bytes())) {
          docFreq += dictionary.docFreq();
          totalTermFreq += dictionary.totalTermFreq();
          at[leaf] = dictionary.termState();
        }
      }
      sum += docFreq;
      if (docFreq > 0) {
        collection = collection == null ? searcher.collectionStatistics(field) : collection;
        TermStatistics counts = searcher.termStatistics(each.term(), docFreq, totalTermFreq);
        SimScorer scorer = searcher.getSimilarity().scorer(each.boost(), collection, counts);
        scored.add(new Scored(each.term(), scorer, at));
      }
    }
    postings = sum;
  }

  /** The postings of a term in a segment; null where there are none. */
  PostingsEnum postings(Scored term, int leaf, PostingsEnum reuse) throws IOException {
    if (term.at[leaf] == null) {
      return null;
    }
    dictionaries[leaf].seekExact(term.term.bytes(), term.at[leaf]);
    return dictionaries[leaf].postings(reuse, PostingsEnum.FREQS);
  }

  /** The norms of a segment; null where there are none, and Lucene scores as if they were 1. */
  NumericDocValues norms(int leaf) throws IOException {
    return leaves.get(leaf).reader().getNormValues(field);
  }
}
