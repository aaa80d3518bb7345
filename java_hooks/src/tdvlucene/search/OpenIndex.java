package tdvlucene.search;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;

/**
 * Keeps an index open for queries that are asked one at a time.
 *
 * <p>It shows the commit that was the last one when it was opened. For one thread.
 */
public final class OpenIndex implements Closeable {
  private final Index index;
  private final IndexReader reader;
  private final Ranking ranking;
  private final Analyzer analyzer;
  private final String field;

  public OpenIndex(Index index, Similarity similarity, String field, Analyzer analyzer)
      throws IOException {
    this.index = index;
    this.field = field;
    this.analyzer = analyzer;
    reader = index.open();
    try {
      ranking = Indexes.read(index, reader, opened -> {
        Searchable.require(opened, index, field);
        return new Ranking(opened, index, similarity);
      });
    } catch (Throwable t) {
      reader.close();
      throw t;
    }
  }

  /** A JSON array of the best hits, each {@code [docid, score]}. */
  public String search(String text, int hits) throws IOException {
    return Indexes.read(index, reader, opened -> {
      List<List<Object>> best = new ArrayList<>();
      ScoreDoc[] found = ranking.top(parse(text), hits);
      String[] ids = ranking.ids(found);
      for (int i = 0; i < found.length; i++) {
        best.add(List.of(ids[i], found[i].score));
      }
      return Json.of(best);
    });
  }

  /** As {@link TermCounts#of}. */
  public String counts(String terms) throws IOException {
    return Indexes.read(index, reader, opened -> TermCounts.of(opened, field, terms));
  }

  /** As {@link QueryPostings#of}. */
  public String postings(String terms, String ids) throws IOException {
    return Indexes.read(index, reader, opened -> QueryPostings.of(opened, index, field, terms, ids));
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }

  private Query parse(String asked) {
    String typed = Json.of(List.of(List.of("typed", asked)));
    return new Queries(field, analyzer, typed).parse().get(0).query();
  }
}
