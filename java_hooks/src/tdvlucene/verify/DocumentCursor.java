package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.codecs.StoredFieldsReader;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.LeafReaderContext;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.IdField;

/**
 * Reads the live documents of an index in order of their numbers, over all segments; for one
 * thread.
 */
final class DocumentCursor {
  private final ComparedIndex index;

  /** The fields with doc values; {@link #columns} has them in the same order. */
  private final List<FieldInfo> described = new ArrayList<>();

  private final List<Column> columns = new ArrayList<>();
  private final DocumentImage image = new DocumentImage();
  private LeafReaderContext leaf;
  private StoredFieldsReader stored;
  private TermVectorsReader vectors;
  private final ExternalIds ids;
  private int doc;

  /**
   * @param names what names the documents
   * @param fields the columns to read: both sides of a comparison are given the same
   */
  DocumentCursor(ComparedIndex index, IdField names, FieldInfos fields) {
    this.index = index;
    this.ids = new ExternalIds(names);
    for (FieldInfo info : fields) {
      if (info.getDocValuesType() != DocValuesType.NONE) {
        described.add(info);
      }
    }
  }

  /** Moves to the live document with a number. */
  void move(int number) throws IOException {
    int global = index.live.doc(number);
    if (leaf == null || global >= leaf.docBase + leaf.reader().maxDoc()) {
      open(index.leafOf(global));
    }
    doc = global - leaf.docBase;
  }

  private void open(LeafReaderContext next) throws IOException {
    leaf = next;
    CodecReader reader = (CodecReader) leaf.reader();
    // For merging: documents compressed together are decompressed once, not once each.
    stored = reader.getFieldsReader().getMergeInstance();
    TermVectorsReader all = reader.getTermVectorsReader();
    vectors = all == null ? null : all.getMergeInstance();
    columns.clear();
    for (FieldInfo info : described) {
      columns.add(Column.of(reader, info.name, info.getDocValuesType()));
    }
  }

  String id() throws IOException {
    return ids.of(leaf.docBase + doc).utf8ToString();
  }

  /** What the document stores; valid until more is read. */
  DocumentImage stored() throws IOException {
    image.clear();
    stored.document(doc, image);
    return image;
  }

  int columns() {
    return described.size();
  }

  String columnName(int column) {
    return described.get(column).name;
  }

  /** What the document has in a column; valid until more is read. */
  DocumentImage column(int column) throws IOException {
    image.clear();
    columns.get(column).add(doc, image);
    return image;
  }

  /** The document's term vectors; null for none. */
  Fields vectors() throws IOException {
    return vectors == null ? null : vectors.get(doc);
  }
}
