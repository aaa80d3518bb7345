package tdvlucene.search;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;
import tdvlucene.common.StoredText;

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
  private final StoredText texts;

  public OpenIndex(Index index, Similarity similarity, String field, Analyzer analyzer)
      throws IOException {
    this.index = index;
    this.field = field;
    this.analyzer = analyzer;
    this.texts = new StoredText(field);
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

  /**
   * A JSON object: {@code hits}, the best of them as {@code [docid, score, stored text or null]},
   * and {@code below}, the ids of those that follow, down to rank {@code depth}.
   */
  public String search(String text, int hits, int depth) throws IOException {
    return Indexes.read(index, reader, opened -> {
      StoredFields stored = opened.storedFields();
      List<List<Object>> best = new ArrayList<>();
      List<String> below = new ArrayList<>();
      ScoreDoc[] found = ranking.top(parse(text), Math.max(hits, depth));
      String[] ids = ranking.ids(found);
      for (int i = 0; i < found.length; i++) {
        if (i < hits) {
          String content = texts.of(stored.document(found[i].doc, texts.fields()));
          best.add(Arrays.asList(ids[i], found[i].score, content));
        } else {
          below.add(ids[i]);
        }
      }
      return Json.of(Map.of("hits", best, "below", below));
    });
  }

  /** Nanoseconds of one search: without analysis and stored fields. */
  public long time(String text, int hits) throws IOException {
    return Indexes.read(index, reader, opened -> {
      Query parsed = parse(text);
      long start = System.nanoTime();
      ranking.top(parsed, hits);
      return System.nanoTime() - start;
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
