package tdvlucene.search;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Failures;
import tdvlucene.common.Index;
import tdvlucene.common.Json;

/**
 * Statistics that scores depend on. Each shard counts its own; with the sums of all a shard is then
 * searched. Deleted documents count, as in a {@code MultiReader}.
 */
public final class Statistics {
  /** What is counted of a field; no collection where no document has it. */
  private record Counted(
      long documents, CollectionStatistics collection, Map<BytesRef, TermStatistics> terms) {
    long docFreq(Term term) {
      TermStatistics found = terms.get(term.bytes());
      return found == null ? 0 : found.docFreq();
    }
  }

  private final Map<String, Counted> fields = new HashMap<>();

  /**
   * Adds those of a field.
   *
   * @param counts a JSON array: documents, those with the field, its tokens, its postings
   * @param terms a JSON array of [term, documents, occurrences]
   */
  void add(String field, String counts, String terms) {
    List<Long> of = Json.parseStrings(counts).stream().map(Long::parseLong).toList();
    CollectionStatistics collection =
        of.get(1) == 0
            ? null
            : new CollectionStatistics(field, of.get(0), of.get(1), of.get(2), of.get(3));
    Map<BytesRef, TermStatistics> each = new HashMap<>();
    for (List<String> row : Json.parseRows(terms)) {
      BytesRef term = new BytesRef(row.get(0));
      each.put(
          term, new TermStatistics(term, Long.parseLong(row.get(1)), Long.parseLong(row.get(2))));
    }
    fields.put(field, new Counted(of.get(0), collection, each));
  }

  /** A searcher of a shard that scores with these. */
  IndexSearcher searcher(IndexReader shard, Similarity similarity) {
    return new IndexSearcher(shard) {
      @Override
      public Query rewrite(Query query) throws IOException {
        long documents = fields.values().iterator().next().documents;
        return super.rewrite(
            ImpactSimilarity.askedFor(
                query, similarity, documents, term -> of(term.field()).docFreq(term)));
      }

      @Override
      public CollectionStatistics collectionStatistics(String name) {
        return of(name).collection;
      }

      @Override
      public TermStatistics termStatistics(Term term, int docFreq, long totalTermFreq) {
        TermStatistics found = of(term.field()).terms.get(term.bytes());
        if (found == null) { // never with the shard's own: scores would be wrong and look right
          throw new IllegalStateException("no statistics of the whole for the term " + term);
        }
        return found;
      }
    };
  }

  private Counted of(String field) {
    Counted found = fields.get(field);
    if (found == null) {
      throw new IllegalStateException(
          "statistics of the whole are of " + fields.keySet() + ", not " + field);
    }
    return found;
  }

  /**
   * A JSON object: {@code counts} (documents, those with the field, its tokens, its postings) and
   * {@code fields} (name to how it was indexed). Refuses a damaged index.
   */
  public static String ofShard(Index index, String field) throws IOException {
    return index.read(reader -> {
      if (Index.hasField(reader, field)) { // a shard may lack it, as one without documents does
        Searchable.require(reader, index, field, bytes -> {}, read -> {});
      } else {
        Failures.refuseDamageSearched(index, bytes -> {}, read -> {});
      }
      CollectionStatistics of = new IndexSearcher(reader).collectionStatistics(field);
      List<Long> counts =
          of == null
              ? List.of((long) reader.maxDoc(), 0L, 0L, 0L)
              : List.of(of.maxDoc(), of.docCount(), of.sumTotalTermFreq(), of.sumDocFreq());
      Map<String, String> fields = new TreeMap<>();
      for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
        fields.put(info.name, Index.describe(info));
      }
      return Json.of(Map.of("counts", counts, "fields", fields));
    });
  }
}
