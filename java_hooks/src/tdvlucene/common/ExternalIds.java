package tdvlucene.common;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Terms;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;

/** The ids of an index's documents, see {@link IdField}; to be asked for in ascending order. */
public final class ExternalIds {
  private final IdField field;

  /** The segment of the last document that was asked for. */
  private LeafReaderContext leaf;

  /** Null where ids are only stored. */
  private Column column;

  private StoredFields stored;

  /** Reads the id of a document; null where it has none. */
  private interface Column {
    BytesRef of(int doc) throws IOException;
  }

  public ExternalIds(IndexReader reader, Index index) throws IOException {
    this(IdField.of(reader, index));
  }

  public ExternalIds(IdField field) {
    this.field = field;
  }

  /** The id of a document, UTF-8 text; valid until the next one is asked for. */
  public BytesRef of(int doc) throws IOException {
    if (field.isNumber()) {
      return new BytesRef(Integer.toString(field.numbers().of(doc)));
    }
    if (leaf == null || doc >= leaf.docBase + leaf.reader().maxDoc()) {
      List<LeafReaderContext> leaves = field.reader().leaves();
      enter(leaves.get(ReaderUtil.subIndex(doc, leaves)));
    }
    BytesRef id = column == null ? null : column.of(doc - leaf.docBase);
    id = id == null ? storedId(doc - leaf.docBase) : id;
    if (!TermText.isText(id)) {
      throw refusal("has " + id + " as its '" + field.field() + "', bytes that are no text (UTF-8)", doc);
    }
    return id;
  }

  private void enter(LeafReaderContext next) throws IOException {
    leaf = next;
    column = column(leaf.reader(), field.field());
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
      ids.enter(leaf);
      boolean oneTells = ids.column == null && hasOneEach(leaf.reader(), field.field());
      Bits live = leaf.reader().getLiveDocs();
      boolean isRead = false;
      for (int doc = 0; doc < leaf.reader().maxDoc() && !(isRead && oneTells); doc++) {
        if (live == null || live.get(doc)) {
          ids.of(leaf.docBase + doc);
          isRead = true;
        }
      }
    }
  }

  private static boolean hasOneEach(LeafReader segment, String name) throws IOException {
    Terms terms = segment.terms(name);
    return terms != null
        && terms.getDocCount() == segment.maxDoc()
        && terms.getSumDocFreq() == segment.maxDoc();
  }

  private static Column column(LeafReader segment, String name) throws IOException {
    FieldInfo info = segment.getFieldInfos().fieldInfo(name);
    DocValuesType type = info == null ? DocValuesType.NONE : info.getDocValuesType();
    switch (type) {
      case BINARY:
        BinaryDocValues bytes = segment.getBinaryDocValues(name);
        return doc -> bytes.advanceExact(doc) ? bytes.binaryValue() : null;
      case SORTED:
      case SORTED_SET:
        SortedDocValues terms = DocValues.unwrapSingleton(DocValues.getSortedSet(segment, name));
        return terms == null
            ? null
            : doc -> terms.advanceExact(doc) ? terms.lookupOrd(terms.ordValue()) : null;
      case NUMERIC:
      case SORTED_NUMERIC:
        NumericDocValues all = DocValues.unwrapSingleton(DocValues.getSortedNumeric(segment, name));
        return all == null
            ? null
            : doc ->
                all.advanceExact(doc) ? new BytesRef(Long.toString(all.longValue())) : null;
      default:
        return null;
    }
  }

  /** Old Anserini indexes have no doc values for the id, only the stored field. */
  private BytesRef storedId(int doc) throws IOException {
    stored = stored == null ? leaf.reader().storedFields() : stored;
    Set<String> only = Collections.singleton(field.field());
    IndexableField[] found = stored.document(doc, only).getFields(field.field());
    if (found.length == 1) {
      IndexableField id = found[0];
      if (id.binaryValue() != null) {
        return id.binaryValue();
      }
      String text = id.numericValue() == null ? id.stringValue() : id.numericValue().toString();
      if (text != null) {
        return new BytesRef(text);
      }
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
