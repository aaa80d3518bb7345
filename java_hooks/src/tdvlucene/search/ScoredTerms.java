package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.TermState;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.Similarity.SimScorer;

/** The terms that a searcher asks of a field, looked up once: how each scores, and its postings. */
final class ScoredTerms {
  /**
   * A term that some document has, of the whole if a shard is searched.
   *
   * @param weight what it adds to a document that has it as often as usual, times its idf: however
   *     much a common term adds, it tells few documents from others
   * @param at null in segments that lack it
   */
  record Scored(AskedTerm asked, SimScorer scorer, double weight, TermState[] at) {}

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
      if (docFreq == 0 && !Statistics.know(searcher, each.term())) {
        continue;
      }
      TermStatistics counts = searcher.termStatistics(each.term(), docFreq, totalTermFreq);
      if (ImpactSimilarity.asks(searcher, counts.docFreq())) {
        collection = collection == null ? searcher.collectionStatistics(field) : collection;
        SimScorer scorer = searcher.getSimilarity().scorer(each.boost(), collection, counts);
        float usual = (float) counts.totalTermFreq() / counts.docFreq();
        double idf = Math.log((double) collection.docCount() / counts.docFreq());
        scored.add(new Scored(each, scorer, scorer.score(usual, 1) * idf, at));
        sum += docFreq;
      }
    }
    postings = sum;
  }

  /** The postings of a term in a segment; null where there are none. */
  PostingsEnum postings(Scored term, int leaf, PostingsEnum reuse) throws IOException {
    if (term.at[leaf] == null) {
      return null;
    }
    dictionaries[leaf].seekExact(term.asked.term().bytes(), term.at[leaf]);
    return dictionaries[leaf].postings(reuse, PostingsEnum.FREQS);
  }

  /** The norms of a segment; null where there are none, and Lucene scores as if they were 1. */
  NumericDocValues norms(int leaf) throws IOException {
    return leaves.get(leaf).reader().getNormValues(field);
  }
}
