package tdvtesting;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.BytesTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.analysis.tokenattributes.PayloadAttribute;
import org.apache.lucene.analysis.tokenattributes.PositionIncrementAttribute;
import org.apache.lucene.codecs.Codec;
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
import org.apache.lucene.index.BinaryDocValues;
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
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PointValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.SoftDeletesDirectoryReaderWrapper;
import org.apache.lucene.index.SortedSetDocValues;
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

  private static final Map<String, String> ANSERINIS =
      Map.of(
          "accurate", "io.anserini.search.similarity.AccurateBM25Similarity",
          "impact", "io.anserini.search.similarity.ImpactSimilarity");

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
        Map<String, String> data = new HashMap<>();
        index.layout.get("userData").properties()
            .forEach(entry -> data.put(entry.getKey(), entry.getValue().asText()));
        writer.setLiveCommitData(data.entrySet());
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
    TieredMergePolicy tiered = new TieredMergePolicy();
    switch (name) {
      case "none":
        return NoMergePolicy.INSTANCE;
      case "in order":
        return new LogDocMergePolicy();
      case "by size":
        return tiered;
      default:
        return tiered.setSegmentsPerTier(2);
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
    if (layout.has("codec")) {
      config.setCodec(Codec.forName(layout.get("codec").asText()));
    }
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
    Map<String, Similarity> byField = new HashMap<>();
    layout.get("fields").properties().forEach(
        field -> byField.put(field.getKey(), similarity(field.getValue().get("norms").asText())));
    Similarity other = new BM25Similarity();
    return new PerFieldSimilarityWrapper() {
      @Override
      public Similarity get(String field) {
        return byField.getOrDefault(field, other);
      }
    };
  }

  /** Anserini's by name: this class is compiled without it. */
  private static Similarity similarity(String norms) {
    String name = ANSERINIS.get(norms);
    try {
      return name == null
          ? new BM25Similarity()
          : (Similarity) Class.forName(name).getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
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
      BytesRef bytes =
          new BytesRef(described.get("bytes").asText().getBytes(StandardCharsets.ISO_8859_1));
      document.add(new StoredField("source", bytes));
      document.add(new BinaryDocValuesField("source", bytes));
    }
    if (described.has("rank")) {
      document.add(new NumericDocValuesField("rank", described.get("rank").asLong()));
    }
    if (described.has("count")) {
      document.add(new NumericDocValuesField("count", described.get("count").asLong()));
    }
    if (described.has("tags")) {
      for (JsonNode tag : described.get("tags")) {
        document.add(new SortedSetDocValuesField("tags", new BytesRef(tag.asText())));
      }
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
    Dump dumped = new Dump();
    Map<String, Object> all = new LinkedHashMap<>();
    try (Directory folder = FSDirectory.open(Paths.get(path));
        DirectoryReader reader = withoutSoftDeleted(DirectoryReader.open(folder))) {
      for (LeafReaderContext context : reader.leaves()) {
        dumped.add((CodecReader) context.reader());
      }
      all.put("user_data", new TreeMap<>(reader.getIndexCommit().getUserData()));
      all.put("options", options(reader));
    }
    all.put("postings", dumped.postings);
    all.put("vectors", dumped.vectors);
    all.put("norms", dumped.norms);
    all.put("statistics", dumped.statistics);
    all.put("documents", dumped.documents);
    all.put("segments", dumped.segments);
    return JSON.writeValueAsString(all);
  }

  private static DirectoryReader withoutSoftDeleted(DirectoryReader reader) throws IOException {
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
      if (info.isSoftDeletesField()) {
        return new SoftDeletesDirectoryReaderWrapper(reader, info.name);
      }
    }
    return reader;
  }

  private static Map<String, String> options(DirectoryReader reader) {
    Map<String, String> options = new TreeMap<>();
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
      options.put(info.name, info.getIndexOptions() + (info.hasPayloads() ? "+PAYLOADS" : ""));
    }
    return options;
  }

  /** What an index holds, by field, by document, by segment. */
  private static final class Dump {
    private final Map<String, Map<String, List<Object>>> postings = new TreeMap<>();
    private final Map<String, Map<String, Map<String, List<Object>>>> vectors = new TreeMap<>();
    private final Map<String, Map<String, Long>> norms = new TreeMap<>();
    private final Map<String, long[]> statistics = new TreeMap<>();
    private final List<Map<String, Object>> documents = new ArrayList<>();
    private final List<Object> segments = new ArrayList<>();

    /** The live documents' numbers of the segment at hand; -1 for the deleted ones. */
    private int[] numbers;

    private int next;

    private void add(CodecReader leaf) throws IOException {
      Bits live = leaf.getLiveDocs();
      numbers = new int[leaf.maxDoc()];
      for (int doc = 0; doc < numbers.length; doc++) {
        numbers[doc] = live == null || live.get(doc) ? next++ : -1;
      }
      describe(leaf);
      for (FieldInfo info : leaf.getFieldInfos()) {
        if (info.getIndexOptions() != IndexOptions.NONE) {
          addPostings(leaf.terms(info.name), info.name);
          addNorms(leaf.getNormValues(info.name), info.name);
        }
      }
      for (int doc = 0; doc < numbers.length; doc++) {
        if (numbers[doc] >= 0) {
          addVectors(leaf.termVectors().get(doc), numbers[doc]);
          documents.add(document(leaf, doc));
        }
      }
      addPoints(leaf.getPointValues("year"));
    }

    private void describe(CodecReader leaf) {
      SegmentInfo info = ((SegmentReader) FilterCodecReader.unwrap(leaf)).getSegmentInfo().info;
      Map<String, Object> segment = new TreeMap<>();
      segment.put("documents", leaf.numDocs());
      segment.put("deleted", leaf.numDeletedDocs());
      segment.put("compound", info.getUseCompoundFile());
      segment.put("sort", String.valueOf(info.getIndexSort()));
      segment.put("codec", info.getCodec().getName());
      segments.add(segment);
    }

    private void addPostings(Terms terms, String field) throws IOException {
      Map<String, List<Object>> found = postings.computeIfAbsent(field, f -> new TreeMap<>());
      long[] sums = statistics.computeIfAbsent(field, f -> new long[3]);
      if (terms == null) {
        return;
      }
      sums[0] += terms.getDocCount();
      sums[1] += terms.getSumDocFreq();
      sums[2] += terms.getSumTotalTermFreq();
      TermsEnum each = terms.iterator();
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
          found.computeIfAbsent(latin1(term), t -> new ArrayList<>()).addAll(list);
        }
      }
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

    private void addNorms(NumericDocValues values, String field) throws IOException {
      Map<String, Long> found = norms.computeIfAbsent(field, f -> new TreeMap<>());
      while (values != null && values.nextDoc() != END) {
        if (numbers[values.docID()] >= 0) {
          found.put(Integer.toString(numbers[values.docID()]), values.longValue());
        }
      }
    }

    private void addVectors(Fields fields, int number) throws IOException {
      if (fields == null) {
        return;
      }
      for (String field : fields) {
        Map<String, List<Object>> found = new TreeMap<>();
        Terms terms = fields.terms(field);
        TermsEnum each = terms.iterator();
        for (BytesRef term = each.next(); term != null; term = each.next()) {
          PostingsEnum posting = each.postings(null, PostingsEnum.ALL);
          posting.nextDoc();
          found.put(latin1(term), List.of(each.totalTermFreq(), occurrences(posting, terms)));
        }
        vectors.computeIfAbsent(field, f -> new TreeMap<>()).put(Integer.toString(number), found);
      }
    }

    private static Map<String, Object> document(LeafReader leaf, int doc) throws IOException {
      Map<String, Object> found = new TreeMap<>();
      List<Object> stored = new ArrayList<>();
      for (IndexableField field : leaf.storedFields().document(doc)) {
        BytesRef bytes = field.binaryValue();
        stored.add(List.of(field.name(), bytes == null ? field.stringValue() : latin1(bytes)));
      }
      found.put("stored", stored);
      for (FieldInfo info : leaf.getFieldInfos()) {
        Object value = value(leaf, info, doc);
        if (value != null) {
          found.put(info.name, value);
        }
      }
      return found;
    }

    /** A document's doc values of a field: a number, a string or a list of strings; or null. */
    private static Object value(LeafReader leaf, FieldInfo info, int doc) throws IOException {
      switch (info.getDocValuesType()) {
        case NUMERIC:
          NumericDocValues numbers = leaf.getNumericDocValues(info.name);
          return numbers.advanceExact(doc) ? numbers.longValue() : null;
        case BINARY:
          BinaryDocValues bytes = leaf.getBinaryDocValues(info.name);
          return bytes.advanceExact(doc) ? latin1(bytes.binaryValue()) : null;
        case SORTED_SET:
          SortedSetDocValues tags = leaf.getSortedSetDocValues(info.name);
          List<String> names = new ArrayList<>();
          for (int i = tags.advanceExact(doc) ? tags.docValueCount() : 0; i > 0; i--) {
            names.add(latin1(tags.lookupOrd(tags.nextOrd())));
          }
          return names.isEmpty() ? null : names;
        default:
          return null;
      }
    }

    private void addPoints(PointValues points) throws IOException {
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
              if (numbers[doc] >= 0) {
                long year = NumericUtils.sortableBytesToLong(packed, 0);
                documents.get(numbers[doc]).put("year", year);
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
