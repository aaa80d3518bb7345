package tdvlucene.search;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
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
 * <p>Anserini's classes are newer than the Java these hooks are compiled for, hence reflection.
 */
public final class Queries {
  private static final String GENERATOR = "io.anserini.search.query.BagOfWordsQueryGenerator";

  final String field;
  final Analyzer analyzer;
  private final String topics;

  /** @param topics a JSON array of [query id, text] */
  public Queries(String field, Analyzer analyzer, String topics) {
    this.field = field;
    this.analyzer = analyzer;
    this.topics = topics;
  }

  /** A topic's id, its text and the query made of that. */
  static final class Topic {
    final String id;
    final String text;
    final Query query;

    Topic(String id, String text, Query query) {
      this.id = id;
      this.text = text;
      this.query = query;
    }
  }

  List<Topic> parse() throws ReflectiveOperationException {
    Object generator = Class.forName(GENERATOR).getConstructor().newInstance();
    Method build =
        generator.getClass().getMethod("buildQuery", String.class, Analyzer.class, String.class);
    List<Topic> parsed = new ArrayList<>();
    for (List<String> row : Json.parseRows(topics)) {
      String id = row.get(0);
      try {
        Query query = (Query) build.invoke(generator, field, analyzer, row.get(1));
        parsed.add(new Topic(id, row.get(1), query));
      } catch (InvocationTargetException e) {
        throw explain(id, e);
      }
    }
    return parsed;
  }

  private static ReflectiveOperationException explain(String id, InvocationTargetException e) {
    if (e.getCause() instanceof IndexSearcher.TooManyClauses) {
      throw new UserException(
          "query '" + id + "' has more than " + IndexSearcher.getMaxClauseCount()
              + " different terms, the most Lucene takes: shorten it", e);
    }
    return e;
  }
}
