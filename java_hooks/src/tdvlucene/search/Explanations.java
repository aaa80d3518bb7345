package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;

/** Lucene's own explanations of scores, by which every other scorer is tested. */
public final class Explanations {
  private Explanations() {}

  /**
   * A JSON object: query id to an array of {@code [docid, score, explained score]}, best first.
   *
   * <p>Cost: an explanation re-reads the postings of the query's terms, so keep {@code hits} small.
   */
  public static String of(
      String index, Similarity similarity, Queries queries, int hits) throws IOException {
    return Indexes.read(index, reader -> {
      Searchable.require(reader, index, queries.field);
      Map<String, List<List<Object>>> all = new LinkedHashMap<>();
      Ranking ranking = new Ranking(reader, index, similarity);
      for (Queries.Topic topic : queries.parse()) {
        List<List<Object>> rows = new ArrayList<>();
        ScoreDoc[] found = ranking.top(topic.query, hits);
        String[] ids = ranking.ids(found);
        for (int i = 0; i < found.length; i++) {
          Number explained = ranking.searcher().explain(topic.query, found[i].doc).getValue();
          rows.add(List.of(ids[i], found[i].score, explained));
        }
        all.put(topic.id, rows);
      }
      return Json.of(all);
    });
  }
}
