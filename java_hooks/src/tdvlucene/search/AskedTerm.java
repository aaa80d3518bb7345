package tdvlucene.search;

import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import tdvlucene.common.Lucene;

/** A term that a bag of words asks for, and its weight there. */
record AskedTerm(Term term, float boost) {
  /** Whether a query is a bag of words of one field. */
  static boolean isBag(Query query, String field) {
    if (query instanceof BooleanQuery words) {
      return words.clauses().stream().allMatch(clause ->
          !clause.isRequired() && !clause.isProhibited() && isBag(Lucene.query(clause), field));
    }
    Query bare = query instanceof BoostQuery boosted ? boosted.getQuery() : query;
    return bare instanceof TermQuery one && one.getTerm().field().equals(field);
  }

  /** The terms of a bag of words. */
  static List<AskedTerm> of(Query query) {
    List<AskedTerm> asked = new ArrayList<>();
    if (query instanceof BooleanQuery words) {
      for (BooleanClause clause : words) {
        asked.addAll(of(Lucene.query(clause)));
      }
    } else if (query instanceof BoostQuery boosted) {
      of(boosted.getQuery()).forEach(
          each -> asked.add(new AskedTerm(each.term, each.boost * boosted.getBoost())));
    } else if (query instanceof TermQuery one) {
      asked.add(new AskedTerm(one.getTerm(), 1));
    } else {
      throw new IllegalStateException("no bag of words: " + query);
    }
    return asked;
  }

  /** The query that asks for these. */
  static Query query(List<AskedTerm> asked) {
    BooleanQuery.Builder any = new BooleanQuery.Builder();
    for (AskedTerm each : asked) {
      Query term = new TermQuery(each.term);
      any.add(
          each.boost == 1 ? term : new BoostQuery(term, each.boost), BooleanClause.Occur.SHOULD);
    }
    return any.build();
  }

  /** The same bytes in another field. */
  AskedTerm in(String field) {
    return new AskedTerm(new Term(field, term.bytes()), boost);
  }
}
