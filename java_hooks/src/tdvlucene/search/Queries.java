package tdvlucene.search;

import io.anserini.search.query.BagOfWordsQueryGenerator;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import tdvlucene.common.Json;
import tdvlucene.common.UserException;

/**
 * Topics, a field to search them in and the analyzer it was made with; Anserini's own generator
 * turns them into queries.
 *
 * @param topics a JSON array of [query id, text]
 */
public record Queries(String field, Analyzer analyzer, String topics) {
  /** A topic's id, its text and the query made of that. */
  record Topic(String id, String text, Query query) {}

  List<Topic> parse() {
    BagOfWordsQueryGenerator generator = new BagOfWordsQueryGenerator();
    List<Topic> parsed = new ArrayList<>();
    for (List<String> row : Json.parseRows(topics)) {
      String id = row.get(0);
      try {
        Query query = generator.buildQuery(field, analyzer, row.get(1));
        parsed.add(new Topic(id, row.get(1), query));
      } catch (IndexSearcher.TooManyClauses e) {
        throw new UserException(
            "query '" + id + "' has more than " + IndexSearcher.getMaxClauseCount()
                + " different terms, the most Lucene takes: shorten it", e);
      }
    }
    return parsed;
  }
}
