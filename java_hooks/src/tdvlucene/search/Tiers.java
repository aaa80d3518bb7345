package tdvlucene.search;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;

/**
 * A search in two tiers: a field with few postings finds documents, and the field that a query asks
 * for scores the first of them.
 *
 * <p>Scores are those that a search of the whole field gives the same documents. It does what {@code
 * QueryRescorer} does at less cost: a posting list is entered once for all candidates, in the order
 * of documents.
 *
 * @param whole the field that ranks, and that queries ask for
 * @param hot the field that finds
 * @param depth how many of the documents found are scored by the whole, at most
 * @param margin none of them scores less in the hot field than this share of the last of the hits
 *     wanted: what is found far behind them does not become one
 * @param queryTerms the hot field is asked for the heaviest terms of a query that hold this share of
 *     its weight, and for those as heavy as the last of them; see {@link ScoredTerms.Scored#weight}.
 *     For all where more hits are wanted than the depth: most of them are found by the others
 */
public record Tiers(String whole, String hot, int depth, double margin, double queryTerms) {
  /** Finds documents by a search of the hot field, as {@link HotSearch#best} does. */
  interface FirstTier {
    ScoreDoc[] search(HotSearch hot, int hits, int most) throws IOException;
  }

  /**
   * The best documents by score, in tiers if they answer the query; at least as many as wanted where
   * so many are found.
   *
   * @param tiers null for the field of the query alone
   * @param finding what finds documents: of one index with {@code ranking}
   */
  public static ScoreDoc[] search(
      Tiers tiers, IndexSearcher finding, IndexSearcher ranking, Query query, int hits)
      throws IOException {
    return tiers != null && tiers.answer(query)
        ? tiers.search(finding, ranking, query, hits, HotSearch::best)
        : finding.search(query, hits).scoreDocs;
  }

  /**
   * The scores that a searcher gives documents which a query found, in their order.
   *
   * @param query a bag of words
   */
  static float[] scores(IndexSearcher searcher, Query query, ScoreDoc[] found)
      throws IOException {
    List<AskedTerm> asked = AskedTerm.of(query);
    float[] scores = new float[found.length];
    if (!asked.isEmpty()) {
      Candidates candidates = new Candidates(found, found.length);
      candidates.score(new ScoredTerms(searcher, asked.get(0).term().field(), asked));
      for (int i = 0; i < scores.length; i++) {
        int at = Arrays.binarySearch(candidates.docs, found[i].doc);
        scores[i] = (float) candidates.scores[at];
      }
    }
    return scores;
  }

  /** Whether a query is a bag of the whole field's words: others ask that field alone. */
  boolean answer(Query query) {
    return AskedTerm.isBag(query, whole);
  }

  /**
   * The best documents, by score; at least as many as wanted where so many are found.
   *
   * <p>Where more are wanted than the depth, the others follow in the hot field's order. Their
   * scores are the hot field's, less what puts the first of them below the last before.
   *
   * @param query one that these tiers {@link #answer}
   */
  ScoreDoc[] search(
      IndexSearcher finding, IndexSearcher ranking, Query query, int hits, FirstTier first)
      throws IOException {
    ScoredTerms terms = new ScoredTerms(ranking, whole, AskedTerm.of(query));
    boolean all = depth > 0 && hits > depth;
    HotSearch search = new HotSearch(finding, hot, heaviest(terms, all ? 1 : queryTerms), margin);
    ScoreDoc[] found = first.search(search, hits, Math.max(hits, depth));
    int scored = NearBest.count(found, hits, depth, margin);
    ScoreDoc[] ranked = new Candidates(found, scored).rank(terms);
    if (scored == found.length || hits <= scored) {
      return ranked;
    }
    ScoreDoc[] best = Arrays.copyOf(ranked, found.length);
    float most = scored == 0 ? Float.MAX_VALUE : Math.nextDown(ranked[scored - 1].score);
    float less = scored == 0 ? 0 : found[scored].score - most;
    for (int i = scored; i < found.length; i++) {
      best[i] = new ScoreDoc(found[i].doc, Math.min(most, found[i].score - less));
    }
    return best;
  }

  /** What the hot field is asked for. */
  private List<AskedTerm> heaviest(ScoredTerms terms, double share) {
    double[] weights =
        terms.scored.stream().mapToDouble(ScoredTerms.Scored::weight).sorted().toArray();
    double left = (1 - share) * Arrays.stream(weights).sum() * (1 + 1e-12);
    int lightest = 0; // what all documents have weighs nothing, and belongs to all terms
    while (share < 1 && lightest + 1 < weights.length && weights[lightest] <= left) {
      left -= weights[lightest++];
    }
    double least = weights.length == 0 ? 0 : weights[lightest];
    return terms.scored.stream()
        .filter(each -> each.weight() >= least)
        .map(each -> each.asked().in(hot))
        .toList();
  }

  /** Documents to be scored, in their order; one thread's. */
  private static final class Candidates {
    private final int[] docs;
    private final double[] scores;
    private final long[] norms;

    Candidates(ScoreDoc[] found, int count) {
      docs = new int[count];
      for (int i = 0; i < count; i++) {
        docs[i] = found[i].doc;
      }
      Arrays.sort(docs);
      scores = new double[count];
      norms = new long[count];
      Arrays.fill(norms, 1); // as Lucene scores where there are none
    }

    /** All of them by score; equal ones in the order of documents. */
    ScoreDoc[] rank(ScoredTerms terms) throws IOException {
      score(terms);
      long[] ranked = new long[docs.length];
      for (int i = 0; i < docs.length; i++) {
        ranked[i] = PackedHit.of((float) scores[i], docs[i]);
      }
      return PackedHit.inOrder(ranked, docs.length);
    }

    void score(ScoredTerms terms) throws IOException {
      for (int leaf = 0, from = 0; leaf < terms.leaves.size() && from < docs.length; leaf++) {
        int base = terms.leaves.get(leaf).docBase;
        int end = base + terms.leaves.get(leaf).reader().maxDoc();
        int to = from;
        while (to < docs.length && docs[to] < end) {
          to++;
        }
        if (to > from) {
          readNorms(terms.norms(leaf), base, from, to);
          PostingsEnum used = null;
          for (ScoredTerms.Scored term : terms.scored) {
            PostingsEnum postings = terms.postings(term, leaf, used);
            if (postings != null) {
              score(term, postings, base, from, to);
              used = postings;
            }
          }
        }
        from = to;
      }
    }

    private void score(
        ScoredTerms.Scored term, PostingsEnum postings, int base, int from, int to)
        throws IOException {
      int at = -1;
      for (int i = from; i < to; i++) {
        int doc = docs[i] - base;
        at = at < doc ? postings.advance(doc) : at;
        if (at == doc) {
          scores[i] += term.scorer().score(postings.freq(), norms[i]);
        }
      }
    }

    private void readNorms(NumericDocValues all, int base, int from, int to) throws IOException {
      for (int i = from; all != null && i < to; i++) {
        if (all.advanceExact(docs[i] - base)) {
          norms[i] = all.longValue();
        }
      }
    }
  }
}
