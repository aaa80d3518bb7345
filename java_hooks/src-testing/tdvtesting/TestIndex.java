package tdvtesting;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.anserini.search.similarity.AccurateBM25Similarity;
import io.anserini.search.similarity.ImpactSimilarity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.BytesTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.analysis.tokenattributes.PayloadAttribute;
import org.apache.lucene.analysis.tokenattributes.PositionIncrementAttribute;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedSetDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterMergePolicy;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.MultiBits;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.PointValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.SoftDeletesDirectoryReaderWrapper;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.search.similarities.PerFieldSimilarityWrapper;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.IOSupplier;
import org.apache.lucene.util.NumericUtils;

/**
 * An index described in JSON: written, one segment for each inner list of documents; changed; and
 * dumped, all that it holds but k-NN vectors, documents by their number among the live ones, terms
 * as Latin-1.
 *
 * <p>For tests only, and by itself: nothing of the package reads or writes here. Python describes
 * thousands of indexes a minute with it, where a bridge call a token would take a second for each.
 * Compiled once, against Lucene 9; it uses nothing that Lucene 10 lacks.
 */
public final class TestIndex {
  private static final int END = DocIdSetIterator.NO_MORE_DOCS;
  private static final String SOFT_DELETES = "gone";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final JsonNode layout;
  private final Map<String, FieldType> types = new HashMap<>();

  private TestIndex(JsonNode layout) {
    this.layout = layout;
    layout.get("fields").properties()
        .forEach(field -> types.put(field.getKey(), type(field.getValue())));
  }

  /**
   * Writes into the folder {@code path}; all terms are Latin-1 strings that stand for bytes.
   *
   * <p>A new index has {@code segments}. With {@code steps} an index that is there goes on, in one
   * commit: documents to {@code add} as a segment, those to {@code change} as documents of a
   * segment are changed, and into how many segments to {@code merge}, by a {@code policy}.
   */
  public static void write(String path, String json) throws IOException {
    JsonNode described = JSON.readTree(json);
    TestIndex index = new TestIndex(described.get("layout"));
    IndexWriterConfig config = index.config();
    if (described.has("steps")) {
      config.setMergePolicy(policy(described.path("policy").asText()));
      config.setMergeScheduler(new SerialMergeScheduler());
    }
    try (Directory folder = FSDirectory.open(Paths.get(path));
        IndexWriter writer = new IndexWriter(folder, config)) {
      for (JsonNode segment : described.path("segments")) {
        index.add(writer, segment);
      }
      for (JsonNode segment : described.path("segments")) {
        change(writer, segment);
      }
      for (JsonNode step : described.path("steps")) {
        index.add(writer, step.path("add"));
        change(writer, step.path("change"));
        if (step.has("merge")) {
          writer.forceMerge(step.get("merge").asInt());
        }
      }
      if (described.has("segments")) {
        JsonNode said = index.layout.get("userData");
        writer.setLiveCommitData(
            JSON.convertValue(said, new TypeReference<Map<String, String>>() {}).entrySet());
      }
      writer.commit();
    }
  }

  private void add(IndexWriter writer, JsonNode segment) throws IOException {
    List<Document> documents = new ArrayList<>();
    segment.forEach(doc -> documents.add(document(doc)));
    if (layout.has("parent")) {
      writer.addDocuments(documents);
    } else {
      for (Document document : documents) {
        writer.addDocument(document);
      }
    }
    writer.flush();
  }

  private static MergePolicy policy(String name) {
    switch (name) {
      case "none":
        return NoMergePolicy.INSTANCE;
      case "in order":
        return new LogDocMergePolicy();
      default:
        return new TieredMergePolicy().setSegmentsPerTier(2);
    }
  }

  private static void change(IndexWriter writer, JsonNode segment) throws IOException {
    for (JsonNode doc : segment) {
      Term id = new Term("id", doc.get("id").asText());
      if (doc.path("deleted").asText().equals("hard")) {
        writer.deleteDocuments(id);
      } else if (doc.path("deleted").asText().equals("soft")) {
        writer.updateDocValues(id, new NumericDocValuesField(SOFT_DELETES, 1));
      }
      if (doc.has("update")) {
        writer.updateNumericDocValue(id, "count", doc.get("update").asLong());
      }
    }
  }

  private IndexWriterConfig config() {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setMergePolicy(
        new FilterMergePolicy(NoMergePolicy.INSTANCE) {
          @Override
          public boolean keepFullyDeletedSegment(IOSupplier<CodecReader> reader) {
            return true;
          }
        });
    config.setUseCompoundFile(layout.get("compound").asBoolean());
    if (layout.get("sorted").asBoolean()) {
      config.setIndexSort(new Sort(new SortField("rank", SortField.Type.LONG, true)));
    }
    if (layout.get("softDeletes").asBoolean()) {
      config.setSoftDeletesField(SOFT_DELETES);
    }
    config.setSimilarity(similarities());
    if (layout.has("parent")) {
      setParentField(config, layout.get("parent").asText());
    }
    return config;
  }

  /** By name, which Lucene 9 lacks. */
  private static void setParentField(IndexWriterConfig config, String field) {
    try {
      config.getClass().getMethod("setParentField", String.class).invoke(config, field);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private Similarity similarities() {
    Similarity usual = new BM25Similarity();
    Map<String, Similarity> others =
        Map.of("accurate", new AccurateBM25Similarity(), "impact", new ImpactSimilarity());
    return new PerFieldSimilarityWrapper() {
      @Override
      public Similarity get(String field) {
        String norms = layout.get("fields").path(field).path("norms").asText();
        return others.getOrDefault(norms, usual);
      }
    };
  }

  private static FieldType type(JsonNode described) {
    FieldType type = new FieldType();
    String vectors = described.get("vectors").asText();
    type.setIndexOptions(IndexOptions.valueOf(described.get("options").asText()));
    type.setOmitNorms(described.get("norms").asText().equals("none"));
    type.setStoreTermVectors(!vectors.isEmpty());
    type.setStoreTermVectorPositions(vectors.contains("p"));
    type.setStoreTermVectorOffsets(vectors.contains("o"));
    type.setStoreTermVectorPayloads(vectors.contains("y"));
    return type;
  }

  private Document document(JsonNode described) {
    Document document = new Document();
    String id = described.get("id").asText();
    if (!id.isEmpty()) {
      document.add(new StringField("id", id, Field.Store.YES));
      if (layout.get("idDocValues").asBoolean()) {
        document.add(new BinaryDocValuesField("id", new BytesRef(id)));
      }
    }
    described.get("fields").properties().forEach(field -> {
      String name = field.getKey();
      for (JsonNode value : field.getValue()) {
        document.add(new Field(name, new GivenTokens(value), types.get(name)));
      }
    });
    addExtras(document, described);
    return document;
  }

  private static void addExtras(Document document, JsonNode described) {
    if (described.has("raw")) {
      document.add(new StoredField("raw", described.get("raw").asText()));
    }
    if (described.has("bytes")) { // that are no text
      BytesRef bytes = bytes(described.get("bytes"));
      document.add(new StoredField("source", bytes));
      document.add(new BinaryDocValuesField("source", bytes));
    }
    for (String name : List.of("rank", "count")) {
      if (described.has(name)) {
        document.add(new NumericDocValuesField(name, described.get(name).asLong()));
      }
    }
    for (JsonNode tag : described.path("tags")) {
      document.add(new SortedSetDocValuesField("tags", new BytesRef(tag.asText())));
    }
    if (described.has("year")) {
      document.add(new LongPoint("year", described.get("year").asLong()));
    }
    if (described.has("embedding")) {
      float[] vector = JSON.convertValue(described.get("embedding"), float[].class);
      document.add(new KnnFloatVectorField("embedding", vector));
    }
  }

  /** The bytes a Latin-1 string stands for. */
  static BytesRef bytes(JsonNode latin1) {
    return new BytesRef(latin1.asText().getBytes(StandardCharsets.ISO_8859_1));
  }

  /** JSON with postings, vectors, norms and statistics by field; documents; segments. */
  public static String dump(String path) throws IOException {
    try (Directory folder = FSDirectory.open(Paths.get(path));
        DirectoryReader reader = withoutSoftDeleted(DirectoryReader.open(folder))) {
      return JSON.writeValueAsString(new Dump(reader));
    }
  }

  private static DirectoryReader withoutSoftDeleted(DirectoryReader reader) throws IOException {
    FieldInfo marked = FieldInfos.getMergedFieldInfos(reader).fieldInfo(SOFT_DELETES);
    return marked == null ? reader : new SoftDeletesDirectoryReaderWrapper(reader, SOFT_DELETES);
  }

  /** What an index holds, by field, by document, by segment. */
  private static final class Dump {
    public final Map<String, String> user_data;
    public final Map<String, String> options = new TreeMap<>();
    public final Map<String, Object> postings = new TreeMap<>();
    public final Map<String, Map<String, Object>> vectors = new TreeMap<>();
    public final Map<String, Object> norms = new TreeMap<>();
    public final Map<String, Object> statistics = new TreeMap<>();
    public final List<Map<String, Object>> documents = new ArrayList<>();
    public final List<Object> segments = new ArrayList<>();
    private final DirectoryReader reader;

    /** The live documents' numbers; -1 for the deleted ones. */
    private final int[] numbers;

    private Dump(DirectoryReader reader) throws IOException {
      this.reader = reader;
      this.user_data = reader.getIndexCommit().getUserData();
      Bits live = MultiBits.getLiveDocs(reader);
      int next = 0;
      numbers = new int[reader.maxDoc()];
      for (int doc = 0; doc < numbers.length; doc++) {
        numbers[doc] = live == null || live.get(doc) ? next++ : -1;
        if (numbers[doc] >= 0) {
          addVectors(doc);
          documents.add(document(doc));
        }
      }
      for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
        addField(info);
      }
      for (LeafReaderContext leaf : reader.leaves()) {
        segments.add(segment((CodecReader) leaf.reader()));
        addPoints(leaf);
      }
    }

    private void addField(FieldInfo info) throws IOException {
      String name = info.name;
      addValues(info);
      options.put(name, info.getIndexOptions() + (info.hasPayloads() ? "+PAYLOADS" : ""));
      if (info.getIndexOptions() != IndexOptions.NONE) {
        postings.put(name, postings(name));
        norms.put(name, norms(name));
        statistics.put(
            name,
            List.of(
                reader.getDocCount(name), reader.getSumDocFreq(name),
                reader.getSumTotalTermFreq(name)));
      }
    }

    private static Map<String, Object> segment(CodecReader leaf) {
      SegmentInfo info = ((SegmentReader) FilterCodecReader.unwrap(leaf)).getSegmentInfo().info;
      Map<String, Object> segment = new TreeMap<>();
      segment.put("documents", leaf.numDocs());
      segment.put("deleted", leaf.numDeletedDocs());
      segment.put("compound", info.getUseCompoundFile());
      segment.put("sort", String.valueOf(info.getIndexSort()));
      return segment;
    }

    private Map<String, Object> postings(String field) throws IOException {
      Map<String, Object> found = new TreeMap<>();
      Terms terms = MultiTerms.getTerms(reader, field);
      TermsEnum each = terms == null ? TermsEnum.EMPTY : terms.iterator();
      for (BytesRef term = each.next(); term != null; term = each.next()) {
        List<Object> list = new ArrayList<>();
        PostingsEnum posting = each.postings(null, PostingsEnum.ALL);
        for (int doc = posting.nextDoc(); doc != END; doc = posting.nextDoc()) {
          if (numbers[doc] >= 0) {
            int freq = terms.hasFreqs() ? posting.freq() : 1;
            list.add(List.of(numbers[doc], freq, occurrences(posting, terms)));
          }
        }
        if (!list.isEmpty()) {
          found.put(latin1(term), list);
        }
      }
      return found;
    }

    private static List<Object> occurrences(PostingsEnum posting, Terms terms) throws IOException {
      List<Object> found = new ArrayList<>();
      if (terms.hasPositions() || terms.hasOffsets()) {
        for (int i = 0; i < posting.freq(); i++) {
          int position = posting.nextPosition();
          BytesRef payload = posting.getPayload();
          String said = payload == null ? "" : latin1(payload);
          found.add(List.of(position, posting.startOffset(), posting.endOffset(), said));
        }
      }
      return found;
    }

    private Map<String, Long> norms(String field) throws IOException {
      Map<String, Long> found = new TreeMap<>();
      each(
          MultiDocValues.getNormValues(reader, field),
          (number, values) -> found.put(Integer.toString(number), values.longValue()));
      return found;
    }

    private void addVectors(int doc) throws IOException {
      Fields fields = reader.termVectors().get(doc);
      for (String field : fields == null ? List.<String>of() : fields) {
        Map<String, List<Object>> found = new TreeMap<>();
        Terms terms = fields.terms(field);
        TermsEnum each = terms.iterator();
        for (BytesRef term = each.next(); term != null; term = each.next()) {
          PostingsEnum posting = each.postings(null, PostingsEnum.ALL);
          posting.nextDoc();
          found.put(latin1(term), List.of(each.totalTermFreq(), occurrences(posting, terms)));
        }
        String number = Integer.toString(numbers[doc]);
        vectors.computeIfAbsent(field, f -> new TreeMap<>()).put(number, found);
      }
    }

    private Map<String, Object> document(int doc) throws IOException {
      Map<String, Object> found = new TreeMap<>();
      List<Object> stored = new ArrayList<>();
      for (IndexableField field : reader.storedFields().document(doc)) {
        BytesRef bytes = field.binaryValue();
        stored.add(List.of(field.name(), bytes == null ? field.stringValue() : latin1(bytes)));
      }
      found.put("stored", stored);
      return found;
    }

    /** Adds the doc values of a field: a number, a string or a list of strings. */
    private void addValues(FieldInfo info) throws IOException {
      String name = info.name;
      switch (info.getDocValuesType()) {
        case NUMERIC:
          each(
              MultiDocValues.getNumericValues(reader, name),
              (number, values) -> documents.get(number).put(name, values.longValue()));
          break;
        case BINARY:
          each(
              MultiDocValues.getBinaryValues(reader, name),
              (number, values) -> documents.get(number).put(name, latin1(values.binaryValue())));
          break;
        case SORTED_SET:
          each(
              MultiDocValues.getSortedSetValues(reader, name),
              (number, values) -> {
                List<String> names = new ArrayList<>();
                for (int i = values.docValueCount(); i > 0; i--) {
                  names.add(latin1(values.lookupOrd(values.nextOrd())));
                }
                documents.get(number).put(name, names);
              });
          break;
        default:
      }
    }

    private interface Reading<V> {
      void read(int number, V values) throws IOException;
    }

    private <V extends DocIdSetIterator> void each(V values, Reading<V> reading)
        throws IOException {
      while (values != null && values.nextDoc() != END) {
        if (numbers[values.docID()] >= 0) {
          reading.read(numbers[values.docID()], values);
        }
      }
    }

    private void addPoints(LeafReaderContext leaf) throws IOException {
      PointValues points = leaf.reader().getPointValues("year");
      if (points == null) {
        return;
      }
      points.intersect(
          new PointValues.IntersectVisitor() {
            @Override
            public void visit(int doc) {
              throw new IllegalStateException("values were asked for");
            }

            @Override
            public void visit(int doc, byte[] packed) {
              int number = numbers[leaf.docBase + doc];
              if (number >= 0) {
                documents.get(number).put("year", NumericUtils.sortableBytesToLong(packed, 0));
              }
            }

            @Override
            public PointValues.Relation compare(byte[] least, byte[] most) {
              return PointValues.Relation.CELL_CROSSES_QUERY;
            }
          });
    }

    private static String latin1(BytesRef bytes) {
      return new String(bytes.bytes, bytes.offset, bytes.length, StandardCharsets.ISO_8859_1);
    }
  }

  /** Tokens given as [term, position increment, start offset, end offset, payload or null]. */
  private static final class GivenTokens extends TokenStream {
    private final JsonNode tokens;
    private final BytesTermAttribute term = addAttribute(BytesTermAttribute.class);
    private final PositionIncrementAttribute step = addAttribute(PositionIncrementAttribute.class);
    private final OffsetAttribute offset = addAttribute(OffsetAttribute.class);
    private final PayloadAttribute payload = addAttribute(PayloadAttribute.class);
    private int next;

    GivenTokens(JsonNode tokens) {
      this.tokens = tokens;
    }

    @Override
    public void reset() {
      next = 0;
    }

    @Override
    public boolean incrementToken() {
      if (next >= tokens.size()) {
        return false;
      }
      clearAttributes();
      JsonNode token = tokens.get(next++);
      term.setBytesRef(bytes(token.get(0)));
      step.setPositionIncrement(token.get(1).asInt());
      offset.setOffset(token.get(2).asInt(), token.get(3).asInt());
      payload.setPayload(token.get(4).isNull() ? null : bytes(token.get(4)));
      return true;
    }

    @Override
    public void end() {
      clearAttributes();
      int last = tokens.size() == 0 ? 0 : tokens.get(tokens.size() - 1).get(3).asInt();
      offset.setOffset(last, last);
    }
  }
}
