package tdvlucene.common;

import java.io.IOException;
import java.util.Collections;
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

/** The ids of a segment's documents, see {@link IdField}; to be asked for in ascending order. */
public final class ExternalIds {
  private final LeafReaderContext leaf;
  private final IdField field;

  /** Null where ids are only stored, or are numbers. */
  private final Column column;

  private StoredFields stored;

  /** The last number that was asked for, and what it is of. */
  private int number;

  private int numbered;

  /** Reads the id of a document; null where it has none. */
  private interface Column {
    BytesRef of(int doc) throws IOException;
  }

  public ExternalIds(LeafReaderContext leaf, String index) throws IOException {
    this(leaf, IdField.of(ReaderUtil.getTopLevelContext(leaf).reader(), index));
  }

  public ExternalIds(LeafReaderContext leaf, IdField field) throws IOException {
    this.leaf = leaf;
    this.field = field;
    this.column = field.isNumber() ? null : column(leaf.reader(), field.field());
    for (int i = 0; field.isNumber() && i < leaf.ord; i++) {
      number += field.reader().leaves().get(i).reader().numDocs();
    }
  }

  /** The id of a document of the segment; valid until the next one is asked for. */
  public BytesRef of(int doc) throws IOException {
    if (field.isNumber()) {
      return new BytesRef(Integer.toString(number(doc)));
    }
    BytesRef id = column == null ? null : column.of(doc);
    return id == null ? storedId(doc) : id;
  }

  /** Refuses an index in which a document has none; of all that have a column it reads no more. */
  public static void requireAll(IndexReader reader, String index) throws IOException {
    IdField field = IdField.of(reader, index);
    if (field.isNumber()) {
      return;
    }
    for (LeafReaderContext leaf : reader.leaves()) {
      ExternalIds ids = new ExternalIds(leaf, field);
      if (ids.column == null && field.isAnserinis() && haveAll(leaf.reader())) {
        continue;
      }
      Bits live = leaf.reader().getLiveDocs();
      for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
        if (live == null || live.get(doc)) {
          ids.of(doc);
        }
      }
    }
  }

  private static boolean haveAll(LeafReader segment) throws IOException {
    Terms indexed = segment.terms("id");
    return indexed != null && indexed.getDocCount() == segment.maxDoc();
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

  /** How many live documents the index has before this one. */
  private int number(int doc) {
    Bits live = leaf.reader().getLiveDocs();
    if (live == null) {
      return number + doc;
    }
    if (doc < numbered) {
      throw new IllegalStateException("ids are asked for in ascending order");
    }
    for (; numbered < doc; numbered++) {
      number += live.get(numbered) ? 1 : 0;
    }
    return number;
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
    throw UserException.unlessDamaged(
        "document " + (leaf.docBase + doc) + " of " + field.index() + " has "
            + (found.length > 1 ? "several '" : "no '") + field.field()
            + "', by which it is named in runs and judgements: name a field of which each document "
            + "has one, stored or as doc values, with " + UserException.argument("id_field")
            + " (see 'inspect'), or pass " + UserException.argument("id_field", "none")
            + " for document numbers");
  }
}
