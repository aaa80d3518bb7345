package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import tdvlucene.common.Index;
import tdvlucene.common.Json;

/** Reads the frequencies of some terms in some documents. */
final class QueryPostings {
  private QueryPostings() {}

  /**
   * A JSON object: {@code matching}, the number of documents that hold any of the terms, and {@code
   * documents}, id to the term frequencies in the terms' order, 0 where there is no posting.
   *
   * @param terms a JSON array
   * @param ids a JSON array of the collection's ids; those the index lacks are left out
   */
  static String of(IndexReader reader, Index index, String field, String terms, String ids)
      throws IOException {
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
}
