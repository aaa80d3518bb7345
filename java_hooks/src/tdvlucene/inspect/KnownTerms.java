package tdvlucene.inspect;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;
import tdvlucene.common.Tokens;

/**
 * Looks up which terms of texts, by one analyzer or another, are in a field's dictionary: an index
 * does not say which analyzer made it. Reads no postings.
 */
public final class KnownTerms implements Closeable {
  private final Index index;
  private final IndexReader reader;
  private final String field;

  public KnownTerms(Index index, String field) throws IOException {
    this.index = index;
    this.field = field;
    this.reader = index.open();
  }

  /**
   * A JSON object of the different terms of the texts: {@code known} and {@code unknown}, in order.
   *
   * @param texts a JSON array
   */
  public String of(Analyzer analyzer, String texts) throws IOException {
    return Indexes.read(index, reader, opened -> {
      Map<String, List<String>> found = new TreeMap<>();
      found.put("known", new ArrayList<>());
      found.put("unknown", new ArrayList<>());
      TreeSet<BytesRef> terms = new TreeSet<>();
      for (String text : Json.parseStrings(texts)) {
        try (Tokens tokens = new Tokens(analyzer, field, text)) {
          while (tokens.next()) {
            terms.add(tokens.term());
          }
        }
      }
      for (BytesRef term : terms) {
        boolean isKnown = opened.docFreq(new Term(field, term)) > 0;
        found.get(isKnown ? "known" : "unknown").add(term.utf8ToString());
      }
      return Json.of(found);
    });
  }

  /** A JSON array of the fields that can be searched. */
  public String fields() throws IOException {
    return Indexes.read(index, reader, opened -> Json.of(Indexes.withFrequencies(opened)));
  }

  /**
   * A JSON array of the terms in the most documents of the largest segment, those first.
   *
   * <p>Cost: reads that segment's whole dictionary, no postings.
   */
  public String frequentTerms(int most) throws IOException {
    return Indexes.read(index, reader, opened -> {
      PriorityQueue<FrequentTerm> best = new PriorityQueue<>();
      Terms largest = largestDictionary(opened);
      TermsEnum terms = largest == null ? TermsEnum.EMPTY : largest.iterator();
      for (BytesRef term = terms.next(); term != null; term = terms.next()) {
        if (best.size() < most) {
          best.add(new FrequentTerm(term, terms.docFreq()));
        } else if (terms.docFreq() > best.peek().documents) {
          best.remove();
          best.add(new FrequentTerm(term, terms.docFreq()));
        }
      }
      LinkedList<String> texts = new LinkedList<>();
      while (!best.isEmpty()) {
        texts.addFirst(best.remove().text);
      }
      return Json.of(texts);
    });
  }

  private Terms largestDictionary(IndexReader opened) throws IOException {
    Terms largest = null;
    for (LeafReaderContext leaf : opened.leaves()) {
      Terms terms = leaf.reader().terms(field);
      if (largest == null || leaf.reader().getSumDocFreq(field) > largest.getSumDocFreq()) {
        largest = terms;
      }
    }
    return largest;
  }

  private record FrequentTerm(String text, int documents) implements Comparable<FrequentTerm> {
    private FrequentTerm(BytesRef term, int documents) {
      this(new String(term.bytes, term.offset, term.length, StandardCharsets.UTF_8), documents);
    }

    @Override
    public int compareTo(FrequentTerm other) {
      int order = Integer.compare(documents, other.documents);
      return order != 0 ? order : other.text.compareTo(text); // the first of equals stays
    }
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
