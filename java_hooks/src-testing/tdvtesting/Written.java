package tdvtesting;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FilterMergePolicy;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.search.similarities.PerFieldSimilarityWrapper;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.IOSupplier;

/**
 * Writes an index described in JSON, one segment for each inner list of documents.
 *
 * <p>For tests only: Python describes thousands of indexes a minute with it, where a bridge call a
 * token would take a second for each. Compiled once, against Lucene 9; it uses nothing that
 * Lucene 10 lacks.
 */
public final class Written {
  private static final String SOFT_DELETES = "gone";
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Map<String, String> ANSERINIS =
      Map.of(
          "accurate", "io.anserini.search.similarity.AccurateBM25Similarity",
          "impact", "io.anserini.search.similarity.ImpactSimilarity");

  private final JsonNode layout;
  private final Map<String, FieldType> types = new HashMap<>();

  private Written(JsonNode layout) {
    this.layout = layout;
    layout.get("fields").properties()
        .forEach(field -> types.put(field.getKey(), type(field.getValue())));
  }

  /** Writes into the folder {@code path}; all terms are Latin-1 strings that stand for bytes. */
  public static void write(String path, String json) throws IOException {
    JsonNode described = JSON.readTree(json);
    new Written(described.get("layout")).write(path, described.get("segments"));
  }

  private void write(String path, JsonNode segments) throws IOException {
    try (Directory folder = FSDirectory.open(Paths.get(path));
        IndexWriter writer = new IndexWriter(folder, config())) {
      for (JsonNode segment : segments) {
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
      for (JsonNode segment : segments) {
        for (JsonNode doc : segment) {
          change(writer, doc);
        }
      }
      Map<String, String> data = new HashMap<>();
      layout.get("userData").properties()
          .forEach(entry -> data.put(entry.getKey(), entry.getValue().asText()));
      writer.setLiveCommitData(data.entrySet());
      writer.commit();
    }
  }

  /**
   * Goes on with what {@link #write} wrote, in one commit: {@code steps} of documents to
   * {@code add} as a segment, ids to {@code change} as documents of a segment are changed, and
   * segments to {@code merge} into so many, by a {@code policy}.
   */
  public static void goOn(String path, String json) throws IOException {
    JsonNode described = JSON.readTree(json);
    Written written = new Written(described.get("layout"));
    IndexWriterConfig config = written.config();
    config.setMergePolicy(policy(described.path("policy").asText()));
    config.setMergeScheduler(new SerialMergeScheduler());
    try (Directory folder = FSDirectory.open(Paths.get(path));
        IndexWriter writer = new IndexWriter(folder, config)) {
      for (JsonNode step : described.get("steps")) {
        for (JsonNode doc : step.path("add")) {
          writer.addDocument(written.document(doc));
        }
        writer.flush();
        for (JsonNode doc : step.path("change")) {
          change(writer, doc);
        }
        if (step.has("merge")) {
          writer.forceMerge(step.get("merge").asInt());
        }
      }
      writer.commit();
    }
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

  private static void change(IndexWriter writer, JsonNode doc) throws IOException {
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
