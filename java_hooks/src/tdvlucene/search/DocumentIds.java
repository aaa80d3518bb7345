package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiBits;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.util.Bits;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.Json;
import tdvlucene.common.StoredText;

/** Finds documents of an index by their ids. */
public final class DocumentIds {
  /** Ends the id of a document in that of its passage, as D7#0. */
  private static final String PASSAGE = "#";

  private DocumentIds() {}

  /**
   * A JSON array of those of the given ids that are in the index.
   *
   * @param ids a JSON array
   * @param passages whether they name documents of which the index has passages
   */
  public static String known(Index index, String ids, boolean passages) throws IOException {
    List<String> asked = Json.parseStrings(ids);
    return index.read(reader -> {
      Map<String, Integer> found = find(reader, index, asked, passages);
      List<String> known = new ArrayList<>(asked);
      known.removeIf(id -> !found.containsKey(id));
      return Json.of(known);
    });
  }

  /**
   * A JSON object: of those of the given ids that are in the index and have one, the stored title,
   * else the stored text of the field, cut to {@code length} characters.
   *
   * @param ids a JSON array
   * @param passages whether they name documents of which the index has passages
   */
  public static String texts(
      Index index, String field, String ids, int length, boolean passages) throws IOException {
    StoredText titles = new StoredText("title");
    StoredText contents = new StoredText(field);
    Set<String> fields = new HashSet<>(titles.fields());
    fields.addAll(contents.fields());
    List<String> asked = Json.parseStrings(ids);
    return index.read(reader -> {
      Map<String, String> found = new LinkedHashMap<>();
      StoredFields stored = reader.storedFields();
      for (Map.Entry<String, Integer> each : find(reader, index, asked, passages).entrySet()) {
        Document document = stored.document(each.getValue(), fields);
        String title = titles.of(document);
        String text = title == null || title.isBlank() ? contents.of(document) : title;
        if (text != null) {
          String whole = text.strip();
          int points = Math.min(length, whole.codePointCount(0, whole.length()));
          found.put(each.getKey(), whole.substring(0, whole.offsetByCodePoints(0, points)));
        }
      }
      return Json.of(found);
    });
  }

  /**
   * A JSON object: {@code matching}, the number of documents that hold any of the terms, and {@code
   * documents}, id to the term frequencies in the terms' order, 0 where there is no posting.
   *
   * @param terms a JSON array
   * @param ids a JSON array of the collection's ids; those the index lacks are left out
   */
  public static String postings(Index index, String field, String terms, String ids)
      throws IOException {
    List<Term> asked =
        Json.parseStrings(terms).stream().map(text -> new Term(field, text)).toList();
    BooleanQuery.Builder any = new BooleanQuery.Builder();
    asked.forEach(term -> any.add(new TermQuery(term), BooleanClause.Occur.SHOULD));
    return index.read(reader -> {
      Map<String, List<Integer>> documents = new LinkedHashMap<>();
      for (var each : find(reader, index, Json.parseStrings(ids), false).entrySet()) {
        int at = ReaderUtil.subIndex(each.getValue(), reader.leaves());
        LeafReaderContext leaf = reader.leaves().get(at);
        int doc = each.getValue() - leaf.docBase;
        documents.put(each.getKey(), frequencies(leaf.reader(), doc, asked));
      }
      int matching = new IndexSearcher(reader).count(any.build());
      return Json.of(Map.of("matching", matching, "documents", documents));
    });
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

  /**
   * The numbers in the index of those that it has, in the order asked for: by one dictionary lookup
   * each where the ids' field is indexed as whole terms, else by reading the ids of all documents.
   */
  static Map<String, Integer> find(
      IndexReader reader, Index index, Collection<String> asked, boolean passages)
      throws IOException {
    IdField names = IdField.of(reader, index);
    FieldInfo info =
        names.isNumber() ? null : FieldInfos.getMergedFieldInfos(reader).fieldInfo(names.field());
    boolean isIndexed =
        !passages && info != null && info.getIndexOptions() == IndexOptions.DOCS;
    Map<String, Integer> all = isIndexed ? null : read(reader, names, asked, passages);
    Map<String, Integer> found = new LinkedHashMap<>();
    for (String id : asked) {
      Integer doc = isIndexed ? lookUp(reader, new Term(names.field(), id)) : all.get(id);
      if (doc != null) {
        found.put(id, doc);
      }
    }
    return found;
  }

  private static Map<String, Integer> read(
      IndexReader reader, IdField names, Collection<String> asked, boolean passages)
      throws IOException {
    Set<String> wanted = new HashSet<>(asked);
    Map<String, Integer> found = new HashMap<>();
    ExternalIds ids = new ExternalIds(names);
    DocumentNumbers live = new DocumentNumbers(reader);
    for (int number = 0; number < live.size(); number++) {
      int doc = live.doc(number);
      String id = ids.of(doc).utf8ToString();
      String name = passages ? id.split(PASSAGE, 2)[0] : id;
      if (wanted.contains(name)) {
        found.put(name, doc);
      }
    }
    return found;
  }

  /** The last living document with a term; null for none. */
  private static Integer lookUp(IndexReader reader, Term term) throws IOException {
    PostingsEnum postings =
        MultiTerms.getTermPostingsEnum(reader, term.field(), term.bytes(), PostingsEnum.NONE);
    Bits live = MultiBits.getLiveDocs(reader);
    Integer found = null;
    while (postings != null && postings.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
      found = live == null || live.get(postings.docID()) ? (Integer) postings.docID() : found;
    }
    return found;
  }
}
