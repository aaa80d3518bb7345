package tdvlucene.search;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Json;

/**
 * Statistics of a field, and of some terms in it, of the whole that a shard is of: summed over its
 * shards, deleted documents counted, as a {@code MultiReader} would have them.
 */
final class WholeStatistics {
  private final String field;
  private final long documents;
  private final CollectionStatistics collection; // null where no document has the field
  private final Map<BytesRef, TermStatistics> terms = new HashMap<>();

  /**
   * @param counts a JSON array: documents, those with the field, its tokens, its postings
   * @param terms a JSON array of [term, documents, occurrences]
   */
  WholeStatistics(String field, String counts, String terms) {
    this.field = field;
    List<String> of = Json.parseStrings(counts);
    this.documents = Long.parseLong(of.get(0));
    long withField = Long.parseLong(of.get(1));
    this.collection =
        withField == 0
            ? null
            : new CollectionStatistics(
                field, documents, withField, Long.parseLong(of.get(2)),
                Long.parseLong(of.get(3)));
    for (List<String> row : Json.parseRows(terms)) {
      BytesRef term = new BytesRef(row.get(0));
      this.terms.put(
          term,
          new TermStatistics(term, Long.parseLong(row.get(1)), Long.parseLong(row.get(2))));
    }
  }

  /** A searcher of a shard that scores with these. */
  IndexSearcher searcher(IndexReader shard, Similarity similarity) {
    return new IndexSearcher(shard) {
      @Override
      public Query rewrite(Query query) throws IOException {
        return super.rewrite(
            ImpactSimilarity.askedFor(query, similarity, documents, term -> docFreq(term)));
      }

      @Override
      public CollectionStatistics collectionStatistics(String name) {
        requireField(name);
        return collection;
      }

      @Override
      public TermStatistics termStatistics(Term term, int docFreq, long totalTermFreq) {
        requireField(term.field());
        TermStatistics found = terms.get(term.bytes());
        if (found == null) { // never with the shard's own: scores would be wrong and look right
          throw new IllegalStateException("no statistics of the whole for the term " + term);
        }
        return found;
      }
    };
  }

  private long docFreq(Term term) {
    TermStatistics found = terms.get(term.bytes());
    return found == null ? 0 : found.docFreq();
  }

  private void requireField(String name) {
    if (!name.equals(field)) {
      throw new IllegalStateException("statistics of the whole are of " + field + ", not " + name);
    }
  }
}
