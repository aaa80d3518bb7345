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
import tdvlucene.common.Failures;
import tdvlucene.common.Index;
import tdvlucene.common.Json;

/**
 * Statistics that scores depend on. Each shard counts its own; with the sums of all a shard is then
 * searched. Deleted documents count, as in a {@code MultiReader}.
 */
public final class Statistics {
  private long documents;

  /** By field; null where no document has it. */
  private final Map<String, CollectionStatistics> fields = new HashMap<>();

  private final Map<Term, TermStatistics> terms = new HashMap<>();

  /**
   * Adds those of a field.
   *
   * @param counts a JSON array: documents, those with the field, its tokens, its postings
   * @param rows a JSON array of [term, documents, occurrences]
   */
  void add(String field, String counts, String rows) {
    List<Long> of = Json.parseStrings(counts).stream().map(Long::parseLong).toList();
    documents = of.get(0);
    fields.put(
        field,
        of.get(1) == 0
            ? null
            : new CollectionStatistics(field, documents, of.get(1), of.get(2), of.get(3)));
    for (List<String> row : Json.parseRows(rows)) {
      Term term = new Term(field, row.get(0));
      terms.put(
          term,
          new TermStatistics(
              term.bytes(), Long.parseLong(row.get(1)), Long.parseLong(row.get(2))));
    }
  }

  /** A searcher of a shard that scores with these. */
  IndexSearcher searcher(IndexReader shard, Similarity similarity) {
    return new Searcher(shard, similarity);
  }

  /** Whether a searcher scores with such statistics, and some document of the whole has a term. */
  static boolean know(IndexSearcher searcher, Term term) {
    return searcher instanceof Searcher ofShard && ofShard.knows(term);
  }

  /** How many documents a searcher scores among: those of the whole, if it is a shard's. */
  static long documents(IndexSearcher searcher) {
    return searcher instanceof Searcher ofShard
        ? ofShard.documents()
        : searcher.getIndexReader().numDocs();
  }

  private final class Searcher extends IndexSearcher {
    private final Similarity similarity;

    Searcher(IndexReader shard, Similarity similarity) {
      super(shard);
      this.similarity = similarity;
    }

    boolean knows(Term term) {
      return terms.containsKey(term);
    }

    long documents() {
      return documents;
    }

    @Override
    public Query rewrite(Query query) throws IOException {
      return super.rewrite(
          ImpactSimilarity.askedFor(
              query, similarity, documents,
              term -> terms.containsKey(term) ? terms.get(term).docFreq() : 0L));
    }

    @Override
    public CollectionStatistics collectionStatistics(String name) {
      return of(fields, name);
    }

    @Override
    public TermStatistics termStatistics(Term term, int docFreq, long totalTermFreq) {
      return of(terms, term);
    }
  }

  /** Never the shard's own: scores would be wrong and look right. */
  private static <K, V> V of(Map<K, V> whole, K name) {
    if (!whole.containsKey(name)) {
      throw new IllegalStateException("no statistics of the whole for " + name);
    }
    return whole.get(name);
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
