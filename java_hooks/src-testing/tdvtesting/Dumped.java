package tdvtesting;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PointValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.index.SoftDeletesDirectoryReaderWrapper;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.NumericUtils;

/**
 * All an index holds as JSON, but for k-NN vectors, documents by their number among the live ones,
 * terms as Latin-1.
 *
 * <p>For tests only, and by itself: nothing of the package is used to read what it wrote.
 */
public final class Dumped {
  private static final int END = DocIdSetIterator.NO_MORE_DOCS;

  private final Map<String, Map<String, List<Object>>> postings = new TreeMap<>();
  private final Map<String, Map<String, Map<String, List<Object>>>> vectors = new TreeMap<>();
  private final Map<String, Map<String, Long>> norms = new TreeMap<>();
  private final Map<String, long[]> statistics = new TreeMap<>();
  private final List<Map<String, Object>> documents = new ArrayList<>();
  private final List<Object> segments = new ArrayList<>();

  /** The live documents' numbers of the segment at hand; -1 for the deleted ones. */
  private int[] numbers;

  private int next;

  private Dumped() {}

  /** JSON with postings, vectors, norms and statistics by field; documents; segments. */
  public static String dump(String path) throws IOException {
    Dumped dumped = new Dumped();
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
    return new ObjectMapper().writeValueAsString(all);
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
    for (String name : List.of("rank", "count", "gone")) {
      NumericDocValues values = leaf.getNumericDocValues(name);
      if (values != null && values.advanceExact(doc)) {
        found.put(name, values.longValue());
      }
    }
    for (String name : List.of("id", "source")) {
      BinaryDocValues bytes = leaf.getBinaryDocValues(name);
      if (bytes != null && bytes.advanceExact(doc)) {
        found.put(name, latin1(bytes.binaryValue()));
      }
    }
    SortedSetDocValues tags = leaf.getSortedSetDocValues("tags");
    if (tags != null && tags.advanceExact(doc)) {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < tags.docValueCount(); i++) {
        names.add(latin1(tags.lookupOrd(tags.nextOrd())));
      }
      found.put("tags", names);
    }
    return found;
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
              documents.get(numbers[doc]).put("year", NumericUtils.sortableBytesToLong(packed, 0));
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
