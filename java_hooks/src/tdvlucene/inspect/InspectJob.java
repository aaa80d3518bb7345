package tdvlucene.inspect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Failures;
import tdvlucene.common.FrequencyKind;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.IndexFiles;
import tdvlucene.common.Job;
import tdvlucene.common.Lucene;
import tdvlucene.common.NormKind;
import tdvlucene.common.UserException;

/**
 * Describes an index and says which of its fields can be pruned. Of shards, what they have
 * together.
 *
 * <p>Reads field descriptions, norms and, where several segments share it, the dictionary.
 * Postings are read only to compare their files' checksums. The counts of terms, postings and
 * tokens are Lucene's own, which include deleted documents.
 */
public final class InspectJob extends Job {
  /** Documents looked at to propose a field that names them: a proposal need not be sure. */
  private static final int MOST_LOOKED_AT = 100_000;

  private final Index index;
  private long mostBytes = IndexFiles.CHEAP_BYTES;

  public InspectJob(Index index) {
    this.index = index;
  }

  /** Compares the checksums of all files, however large they are, or of none. */
  public void compareChecksums(boolean all) {
    mostBytes = all ? Long.MAX_VALUE : -1;
  }

  @Override
  protected Object run() throws IOException {
    try (IndexReader reader = open(index)) {
      Map<String, Object> found = new LinkedHashMap<>();
      found.put("checked", check());
      found.put("locked", index.lockedFolder(reader) != null);
      String why = whyNotNamed(reader);
      found.put("without_ids", why);
      found.put("segments", segments(reader));
      found.put("fields", fields(reader));
      TreeSet<String> stored = storedFields(reader);
      found.put("stored_fields", stored);
      IdField names = IdField.of(reader, index);
      found.put("named_by", names.show());
      boolean isOpen = names.isNumber() || !why.isEmpty();
      List<String> others = isOpen ? idFields(reader, stored) : new ArrayList<>();
      if (!why.isEmpty()) {
        others.add(IdField.NUMBERS);
      }
      found.put("id_fields", others);
      return found;
    }
  }

  /** Why documents cannot be named; empty where each has an id. */
  private String whyNotNamed(IndexReader reader) throws IOException {
    try {
      ExternalIds.requireAll(reader, index);
      return "";
    } catch (UserException e) {
      return e.reason();
    }
  }

  /** Refuses damaged files; says what was looked at. */
  private Map<String, Object> check() throws IOException {
    int count = 0;
    long bytes = 0;
    boolean checksums = true;
    for (String folder : index.folders()) {
      IndexFiles files = IndexFiles.of(folder);
      boolean compared = files.bytes() <= mostBytes;
      phase("checking the files", compared ? files.bytes() : 0);
      Failures.refuseDamage(files, compared, this::advance);
      count += files.count();
      bytes += files.bytes();
      checksums &= compared;
    }
    Map<String, Object> checked = new LinkedHashMap<>();
    checked.put("files", count);
    checked.put("bytes", bytes);
    checked.put("checksums", checksums);
    return checked;
  }

  private static List<Object> segments(IndexReader reader) {
    List<Object> segments = new ArrayList<>();
    for (SegmentCommitInfo commit : Index.segmentsOf(reader)) {
      SegmentInfo info = commit.info;
      Map<String, Object> segment = new LinkedHashMap<>();
      segment.put("name", info.name);
      segment.put("documents", info.maxDoc() - commit.getDelCount() - commit.getSoftDelCount());
      segment.put("deleted", commit.getDelCount());
      segment.put("soft_deleted", commit.getSoftDelCount());
      segment.put("lucene_version", String.valueOf(info.getVersion()));
      segment.put("codec", info.getCodec().getName());
      segment.put("compound", info.getUseCompoundFile());
      segment.put("sort", info.getIndexSort() == null ? null : info.getIndexSort().toString());
      segments.add(segment);
    }
    return segments;
  }

  private List<Object> fields(IndexReader reader) throws IOException {
    List<Object> fields = new ArrayList<>();
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
      Map<String, Object> field = new LinkedHashMap<>();
      field.put("name", info.name);
      field.put("index_options", info.getIndexOptions().toString());
      field.put("vectors", Lucene.hasTermVectors(info));
      field.put("payloads", info.hasPayloads());
      DocValuesType column = info.getDocValuesType();
      field.put("doc_values", column == DocValuesType.NONE ? null : column.toString());
      field.put("point_dimensions", info.getPointDimensionCount());
      field.put("knn_dimensions", info.getVectorDimension());
      if (info.getIndexOptions() != IndexOptions.NONE) {
        field.put("norms", NormKind.of(reader, info.name).toString());
        if (Index.hasFrequencies(info)) {
          field.put("frequencies", FrequencyKind.of(reader, info.name).toString());
        }
        putCounts(reader, info.name, field);
      }
      field.put("why_not_pruned", whyNotPruned(reader, info));
      fields.add(field);
    }
    return fields;
  }

  private void putCounts(IndexReader reader, String name, Map<String, Object> field)
      throws IOException {
    field.put("documents", reader.getDocCount(name));
    field.put("terms", countTerms(MultiTerms.getTerms(reader, name)));
    long entries = 0;
    for (LeafReaderContext leaf : reader.leaves()) {
      entries += countTerms(leaf.reader().terms(name));
    }
    field.put("segment_terms", entries);
    field.put("postings", reader.getSumDocFreq(name));
    field.put("tokens", reader.getSumTotalTermFreq(name));
  }

  /** One segment knows; several must be walked together. */
  private long countTerms(Terms terms) throws IOException {
    if (terms == null || terms.size() >= 0) {
      return terms == null ? 0 : terms.size();
    }
    phase("counting terms", 0);
    long count = 0;
    for (TermsEnum each = terms.iterator(); each.next() != null; ) {
      count++;
      advance(1);
    }
    return count;
  }

  private static String whyNotPruned(IndexReader reader, FieldInfo info) throws IOException {
    String reason = Index.whyNotCounted(reader, info);
    if (!reason.isEmpty()) {
      return reason;
    }
    return Index.hasLiveTerm(reader, info.name)
        ? NormKind.of(reader, info.name).whyNotPruned()
        : Index.NO_TERM;
  }

  /** Names in the first live document of each segment: no description lists stored fields. */
  private static TreeSet<String> storedFields(IndexReader reader) throws IOException {
    TreeSet<String> names = new TreeSet<>();
    for (LeafReaderContext leaf : reader.leaves()) {
      DocumentNumbers live = new DocumentNumbers(leaf.reader());
      if (live.size() > 0) {
        for (IndexableField field : leaf.reader().storedFields().document(live.doc(0))) {
          names.add(field.name());
        }
      }
    }
    return names;
  }

  /**
   * Fields that could name documents: each document has one value, and all are different.
   *
   * @param stored names of stored fields
   */
  private List<String> idFields(IndexReader reader, Collection<String> stored)
      throws IOException {
    Set<String> possible = new TreeSet<>(stored);
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
      if (info.getDocValuesType() != DocValuesType.NONE && !info.isSoftDeletesField()) {
        possible.add(info.name);
      }
    }
    List<String> found = new ArrayList<>();
    for (String name : possible) {
      if (namesEach(reader, new IdField(reader, index, name, null))) {
        found.add(name);
      }
    }
    return found;
  }

  /** Whether a run can name each document so, and no two alike. */
  private static boolean namesEach(IndexReader reader, IdField field) throws IOException {
    Set<String> met = new HashSet<>();
    ExternalIds ids = new ExternalIds(field);
    DocumentNumbers live = new DocumentNumbers(reader);
    int most = Math.min(live.size(), MOST_LOOKED_AT);
    try {
      for (int number = 0; number < most; number++) {
        String id = ids.of(live.doc(number)).utf8ToString();
        if (id.isEmpty() || id.chars().anyMatch(Character::isWhitespace) || !met.add(id)) {
          return false;
        }
      }
    } catch (UserException e) { // one has none, several, or no text
      return false;
    }
    return most > 0;
  }
}
