package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.QueryVisitor;
import tdvlucene.common.Damage;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;
import tdvlucene.common.Lucene;

/** What one shard adds to the statistics of the whole; {@link WholeStatistics} takes the sums. */
public final class ShardStatistics {
  private ShardStatistics() {}

  /**
   * A JSON object: {@code counts} (documents, those with the field, its tokens, its postings),
   * {@code terms} (rows of term, documents, occurrences, of the topics' terms that it has) and
   * {@code fields} (name to how it was indexed). Refuses a damaged index.
   */
  public static String of(Index index, Queries queries) throws IOException {
    String field = queries.field();
    return Indexes.read(index, reader -> {
      if (Indexes.hasField(reader, field)) { // a shard may lack it, as one without documents does
        Searchable.require(reader, index, field);
      } else {
        Damage.refuseSearched(index, bytes -> {}, read -> {});
      }
      return Json.of(new TreeMap<>(Map.of(
          "counts", counts(reader, field),
          "terms", terms(reader, queries),
          "fields", fields(reader))));
    });
  }

  private static List<Long> counts(IndexReader reader, String field) throws IOException {
    CollectionStatistics of = new IndexSearcher(reader).collectionStatistics(field);
    return of == null
        ? List.of((long) reader.maxDoc(), 0L, 0L, 0L)
        : List.of(of.maxDoc(), of.docCount(), of.sumTotalTermFreq(), of.sumDocFreq());
  }

  private static List<List<Object>> terms(IndexReader reader, Queries queries)
      throws IOException {
    Set<Term> all = new TreeSet<>();
    for (Queries.Topic topic : queries.parse()) {
      topic.query().visit(QueryVisitor.termCollector(all));
    }
    List<List<Object>> rows = new ArrayList<>();
    for (Term term : all) {
      int documents = reader.docFreq(term);
      if (documents > 0) {
        rows.add(List.of(term.text(), documents, reader.totalTermFreq(term)));
      }
    }
    return rows;
  }

  /** How each field was indexed: all that Lucene wants to be the same throughout an index. */
  private static Map<String, String> fields(IndexReader reader) {
    Map<String, String> fields = new TreeMap<>();
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
      fields.put(
          info.name,
          "index options " + info.getIndexOptions()
              + ", norms " + info.hasNorms()
              + ", term vectors " + Lucene.hasTermVectors(info)
              + ", doc values " + info.getDocValuesType()
              + ", points " + info.getPointDimensionCount() + "/"
              + info.getPointIndexDimensionCount() + "/" + info.getPointNumBytes()
              + ", vector " + info.getVectorDimension());
    }
    return fields;
  }
}
