package tdvlucene.common;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Terms;
import org.apache.lucene.util.BytesRef;

/** The ids of an index's documents, see {@link IdField}; to be asked for in ascending order. */
public final class ExternalIds {
  private final IdField field;

  /** The segment of the last document that was asked for. */
  private LeafReaderContext leaf;

  private Column column;
  private StoredFields stored;

  public ExternalIds(IndexReader reader, Index index) throws IOException {
    this(IdField.of(reader, index));
  }

  public ExternalIds(IdField field) {
    this.field = field;
  }

  /** The id of a document, UTF-8 text. */
  public BytesRef of(int doc) throws IOException {
    if (field.isNumber()) {
      return new BytesRef(Integer.toString(field.numbers().of(doc)));
    }
    if (leaf == null || doc >= leaf.docBase + leaf.reader().maxDoc()) {
      List<LeafReaderContext> leaves = field.reader().leaves();
      enter(leaves.get(ReaderUtil.subIndex(doc, leaves)));
    }
    // Several are refused only if a single one is not stored either.
    List<Object> values = column.of(doc - leaf.docBase);
    Object value = values.size() == 1 ? values.get(0) : storedId(doc - leaf.docBase);
    BytesRef id = value instanceof BytesRef bytes ? bytes : new BytesRef(value.toString());
    if (!TermText.isText(id)) {
      throw refusal("has " + id + " as its '" + field.field() + "', bytes that are no text (UTF-8)", doc);
    }
    return id;
  }

  private void enter(LeafReaderContext next) throws IOException {
    leaf = next;
    column = Column.of(leaf.reader(), field.field());
    stored = null;
  }

  /**
   * Refuses an index in which a document has none. Stored fields are slow to read: where the
   * dictionary says that each document of a segment has one value, the first one's tells of all.
   */
  public static void requireAll(IndexReader reader, Index index) throws IOException {
    IdField field = IdField.of(reader, index);
    if (field.isNumber()) {
      return;
    }
    ExternalIds ids = new ExternalIds(field);
    for (LeafReaderContext leaf : reader.leaves()) {
      DocumentNumbers live = new DocumentNumbers(leaf.reader());
      boolean oneTells = isOnlyStored(leaf.reader(), field.field());
      int read = oneTells ? Math.min(1, live.size()) : live.size();
      for (int number = 0; number < read; number++) {
        ids.of(leaf.docBase + live.doc(number));
      }
    }
  }

  /** Whether a segment has no doc values of a field, and one term of it for each document. */
  private static boolean isOnlyStored(LeafReader segment, String name) throws IOException {
    FieldInfo info = segment.getFieldInfos().fieldInfo(name);
    Terms terms = segment.terms(name);
    return terms != null
        && info.getDocValuesType() == DocValuesType.NONE
        && terms.getDocCount() == segment.maxDoc()
        && terms.getSumDocFreq() == segment.maxDoc();
  }

  /** Bytes, a number or a string. Old Anserini indexes have no doc values for the id. */
  private Object storedId(int doc) throws IOException {
    stored = stored == null ? leaf.reader().storedFields() : stored;
    IndexableField[] found =
        stored.document(doc, Set.of(field.field())).getFields(field.field());
    Object value = found.length == 1 ? StoredText.value(found[0]) : null;
    if (value != null) {
      return value;
    }
    String has = found.length > 1 ? "has several '" : "has no '";
    String where = found.length > 1 ? "'" : "' that is stored or has doc values";
    throw refusal(has + field.field() + where, leaf.docBase + doc);
  }

  private UserException refusal(String why, int doc) {
    return UserException.unlessDamaged(
        "document " + doc + " of " + field.index() + " " + why,
        "name a field of which each document has one value, with "
            + "id_field (see 'inspect'), or pass "
            + "id_field none for document numbers");
  }
}
