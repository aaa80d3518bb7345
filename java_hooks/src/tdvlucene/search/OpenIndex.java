package tdvlucene.search;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
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

  /** @param tiers null to search the field alone */
  public OpenIndex(
      Index index, Similarity similarity, Tiers tiers, String field, Analyzer analyzer)
      throws IOException {
    this.index = index;
    this.field = field;
    this.analyzer = analyzer;
    reader = index.open();
    try {
      ranking = Indexes.read(index, reader, opened -> {
        Searchable.require(opened, index, field);
        return new Ranking(opened, index, similarity, tiers);
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

  /** As {@link Dictionary#of}. */
  public String counts(String terms) throws IOException {
    return Indexes.read(index, reader, opened -> Dictionary.of(opened, field, terms));
  }

  /**
   * A JSON object: {@code matching}, the number of documents that hold any of the terms, and {@code
   * documents}, id to the term frequencies in the terms' order, 0 where there is no posting.
   *
   * @param terms a JSON array
   * @param ids a JSON array of the collection's ids; those the index lacks are left out
   */
  public String postings(String terms, String ids) throws IOException {
    return Indexes.read(index, reader, opened -> readPostings(terms, ids));
  }

  private String readPostings(String terms, String ids) throws IOException {
    List<Term> asked = new ArrayList<>();
    BooleanQuery.Builder any = new BooleanQuery.Builder();
    for (String text : Json.parseStrings(terms)) {
      Term term = new Term(field, text);
      asked.add(term);
      any.add(new TermQuery(term), BooleanClause.Occur.SHOULD);
    }
    Map<String, List<Integer>> documents = new LinkedHashMap<>();
    List<LeafReaderContext> leaves = reader.leaves();
    Map<String, Integer> found = DocumentIds.find(reader, index, Json.parseStrings(ids));
    for (Map.Entry<String, Integer> each : found.entrySet()) {
      LeafReaderContext leaf = leaves.get(ReaderUtil.subIndex(each.getValue(), leaves));
      int doc = each.getValue() - leaf.docBase;
      documents.put(each.getKey(), frequencies(leaf.reader(), doc, asked));
    }
    IndexSearcher searcher = new IndexSearcher(reader);
    return Json.of(Map.of("matching", searcher.count(any.build()), "documents", documents));
  }

  private static List<Integer> frequencies(LeafReader leaf, int doc, List<Term> terms)
      throws IOException {
    List<Integer> frequencies = new ArrayList<>();
    for (Term term : terms) {
      PostingsEnum postings = leaf.postings(term, PostingsEnum.FREQS);
      boolean found = postings != null && postings.advance(doc) == doc;
      frequencies.add(found ? postings.freq() : 0);
    }
    return frequencies;
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
