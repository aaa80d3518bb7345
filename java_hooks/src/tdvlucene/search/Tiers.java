package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TermState;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.Similarity.SimScorer;
import tdvlucene.common.Lucene;

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
 *     its weight, and for those as heavy as the last of them
 */
public record Tiers(String whole, String hot, int depth, double margin, double queryTerms) {
  /** Finds documents for a query on the hot field; it may leave out what {@link #find} does. */
  interface FirstTier {
    ScoreDoc[] search(Query query, int hits, int most) throws IOException;
  }

  /**
   * The best documents for a query on the hot field.
   *
   * @param hits how many are wanted in the end
   * @param most how many may be returned: of those behind the hits, what is within the margin
   */
  ScoreDoc[] find(IndexSearcher searcher, Query query, int hits, int most) throws IOException {
    return hits < most && margin > 0
        ? searcher.search(query, new NearBest(hits, most, margin))
        : searcher.search(query, most).scoreDocs;
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
        ? tiers.search(
            ranking, query, hits, (hot, wanted, most) -> tiers.find(finding, hot, wanted, most))
        : finding.search(query, hits).scoreDocs;
  }

  /**
   * The scores that a searcher gives documents which a query found, in their order.
   *
   * @param query a bag of words
   */
  static float[] scores(IndexSearcher searcher, Query query, ScoreDoc[] found)
      throws IOException {
    Candidates candidates = new Candidates(searcher, found, found.length);
    candidates.score(Asked.of(searcher.rewrite(query)));
    float[] scores = new float[found.length];
    for (int i = 0; i < scores.length; i++) {
      int at = Arrays.binarySearch(candidates.docs, found[i].doc);
      scores[i] = (float) candidates.scores[at];
    }
    return scores;
  }

  /** Whether a query is a bag of the whole field's words: others ask that field alone. */
  boolean answer(Query query) {
    if (query instanceof BooleanQuery words) {
      return words.clauses().stream().allMatch(clause ->
          !clause.isRequired() && !clause.isProhibited() && answer(Lucene.query(clause)));
    }
    Query bare = query instanceof BoostQuery boosted ? boosted.getQuery() : query;
    return bare instanceof TermQuery one && one.getTerm().field().equals(whole);
  }

  /**
   * The best documents, by score; at least as many as wanted where so many are found.
   *
   * <p>Where more are wanted than the depth, the others follow in the hot field's order. Their
   * scores are the hot field's, less what puts the first of them below the last before.
   *
   * @param query one that these tiers {@link #answer}
   */
  ScoreDoc[] search(IndexSearcher searcher, Query query, int hits, FirstTier first)
      throws IOException {
    List<Asked> asked = Asked.of(searcher.rewrite(query));
    ScoreDoc[] found = first.search(hotQuery(asked), hits, Math.max(hits, depth));
    int scored = NearBest.count(found, hits, depth, margin);
    ScoreDoc[] ranked = new Candidates(searcher, found, scored).rank(asked);
    if (scored == found.length || hits <= scored) {
      return ranked;
    }
    ScoreDoc[] all = Arrays.copyOf(ranked, found.length);
    float most = scored == 0 ? Float.MAX_VALUE : Math.nextDown(ranked[scored - 1].score);
    float less = scored == 0 ? 0 : found[scored].score - most;
    for (int i = scored; i < found.length; i++) {
      all[i] = new ScoreDoc(found[i].doc, Math.min(most, found[i].score - less));
    }
    return all;
  }

  private Query hotQuery(List<Asked> asked) {
    BooleanQuery.Builder any = new BooleanQuery.Builder();
    for (Asked each : heaviest(asked)) {
      Query term = new TermQuery(new Term(hot, each.term.bytes()));
      any.add(
          each.boost == 1 ? term : new BoostQuery(term, each.boost), BooleanClause.Occur.SHOULD);
    }
    return any.build();
  }

  private List<Asked> heaviest(List<Asked> asked) {
    double[] weights = asked.stream().mapToDouble(Asked::boost).sorted().toArray();
    double left = (1 - queryTerms) * Arrays.stream(weights).sum() * (1 + 1e-12);
    int lightest = 0;
    while (lightest + 1 < weights.length && weights[lightest] <= left) {
      left -= weights[lightest++];
    }
    double least = weights.length == 0 ? 0 : weights[lightest];
    return asked.stream().filter(each -> each.boost >= least).toList();
  }

  /** A term of a query, and its weight there. */
  private record Asked(Term term, float boost) {
    static List<Asked> of(Query query) {
      List<Asked> asked = new ArrayList<>();
      if (query instanceof BooleanQuery words) {
        for (BooleanClause clause : words) {
          asked.addAll(of(Lucene.query(clause)));
        }
      } else if (query instanceof BoostQuery boosted) {
        of(boosted.getQuery()).forEach(
            each -> asked.add(new Asked(each.term, each.boost * boosted.getBoost())));
      } else if (query instanceof TermQuery one) {
        asked.add(new Asked(one.getTerm(), 1));
      } else if (!(query instanceof MatchNoDocsQuery)) {
        throw new IllegalStateException("no bag of words: " + query);
      }
      return asked;
    }
  }

  /** A term that some document has, how it scores, and where each segment has it. */
  private record Scored(SimScorer scorer, Term term, TermState[] at) {}

  /** Documents to be scored, in their order; one thread's. */
  private static final class Candidates {
    private final IndexSearcher searcher;
    private final List<LeafReaderContext> leaves;
    private final int[] docs;
    private final double[] scores;
    private final long[] norms;

    /** Of each segment where its candidates end, its dictionary, and postings to use again. */
    private final int[] ends;

    private final TermsEnum[] dictionaries;
    private final PostingsEnum[] used;

    Candidates(IndexSearcher searcher, ScoreDoc[] found, int count) {
      this.searcher = searcher;
      this.leaves = searcher.getIndexReader().leaves();
      docs = new int[count];
      for (int i = 0; i < count; i++) {
        docs[i] = found[i].doc;
      }
      Arrays.sort(docs);
      scores = new double[count];
      norms = new long[count];
      ends = new int[leaves.size()];
      dictionaries = new TermsEnum[leaves.size()];
      used = new PostingsEnum[leaves.size()];
      for (int leaf = 0, next = 0; leaf < ends.length; leaf++) {
        int end = leaves.get(leaf).docBase + leaves.get(leaf).reader().maxDoc();
        while (next < docs.length && docs[next] < end) {
          next++;
        }
        ends[leaf] = next;
      }
    }

    /** All of them by score; equal ones in the order of documents. */
    ScoreDoc[] rank(List<Asked> asked) throws IOException {
      score(asked);
      long[] ranked = new long[docs.length];
      for (int i = 0; i < docs.length; i++) {
        ranked[i] = PackedHit.of((float) scores[i], docs[i]);
      }
      return PackedHit.inOrder(ranked, docs.length);
    }

    void score(List<Asked> asked) throws IOException {
      List<Scored> terms = lookUp(asked);
      if (!terms.isEmpty()) {
        readNorms(terms.get(0).term.field());
      }
      for (Scored term : terms) {
        score(term);
      }
    }

    private List<Scored> lookUp(List<Asked> asked) throws IOException {
      CollectionStatistics collection = null;
      List<Scored> terms = new ArrayList<>(asked.size());
      for (Asked each : asked) {
        long docFreq = 0;
        long totalTermFreq = 0;
        TermState[] at = new TermState[dictionaries.length];
        for (int leaf = 0; leaf < at.length; leaf++) {
          if (dictionaries[leaf] == null) {
            Terms all = leaves.get(leaf).reader().terms(each.term.field());
            dictionaries[leaf] = all == null ? TermsEnum.EMPTY : all.iterator();
          }
          if (dictionaries[leaf].seekExact(each.term.bytes())) {
            docFreq += dictionaries[leaf].docFreq();
            totalTermFreq += dictionaries[leaf].totalTermFreq();
            at[leaf] = dictionaries[leaf].termState();
          }
        }
        if (docFreq > 0) {
          collection =
              collection == null ? searcher.collectionStatistics(each.term.field()) : collection;
          SimScorer scorer =
              searcher.getSimilarity().scorer(
                  each.boost, collection,
                  searcher.termStatistics(each.term, (int) docFreq, totalTermFreq));
          terms.add(new Scored(scorer, each.term, at));
        }
      }
      return terms;
    }

    private void score(Scored term) throws IOException {
      for (int leaf = 0; leaf < ends.length; leaf++) {
        int from = leaf == 0 ? 0 : ends[leaf - 1];
        if (from == ends[leaf] || term.at[leaf] == null) {
          continue;
        }
        dictionaries[leaf].seekExact(term.term.bytes(), term.at[leaf]);
        PostingsEnum postings = dictionaries[leaf].postings(used[leaf], PostingsEnum.FREQS);
        used[leaf] = postings;
        int at = -1;
        for (int i = from; i < ends[leaf]; i++) {
          int doc = docs[i] - leaves.get(leaf).docBase;
          at = at < doc ? postings.advance(doc) : at;
          if (at == doc) {
            scores[i] += term.scorer.score(postings.freq(), norms[i]);
          }
        }
      }
    }

    private void readNorms(String field) throws IOException {
      Arrays.fill(norms, 1); // as Lucene scores where there are none
      for (int leaf = 0; leaf < ends.length; leaf++) {
        int from = leaf == 0 ? 0 : ends[leaf - 1];
        NumericDocValues each =
            from < ends[leaf] ? leaves.get(leaf).reader().getNormValues(field) : null;
        for (int i = from; each != null && i < ends[leaf]; i++) {
          if (each.advanceExact(docs[i] - leaves.get(leaf).docBase)) {
            norms[i] = each.longValue();
          }
        }
      }
    }
  }
}
