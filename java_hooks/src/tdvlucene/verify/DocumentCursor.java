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

/**
 * Reads the live documents of an index in order of their numbers, over all segments; for one
 * thread.
 */
final class DocumentCursor {
  private final ComparedIndex index;

  /** The fields with doc values; {@link #columns} has them in the same order. */
  private final List<FieldInfo> described = new ArrayList<>();

  private final List<Column> columns = new ArrayList<>();
  private LeafReaderContext leaf;
  private StoredFieldsReader stored;
  private TermVectorsReader vectors;
  private final ExternalIds ids;
  private int doc;

  /** @param fields the columns to read: both sides of a comparison are given the same */
  DocumentCursor(ComparedIndex index, FieldInfos fields) throws IOException {
    this.index = index;
    this.ids = new ExternalIds(index.reader, index.path);
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
    CodecReader reader = ComparedIndex.codecReader(leaf);
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

  void readStored(DocumentImage image) throws IOException {
    image.clear();
    stored.document(doc, image);
  }

  int columns() {
    return described.size();
  }

  String columnName(int column) {
    return described.get(column).name;
  }

  void readColumn(int column, DocumentImage image) throws IOException {
    image.clear();
    columns.get(column).add(doc, image);
  }

  /** The document's term vectors; null for none. */
  Fields vectors() throws IOException {
    return vectors == null ? null : vectors.get(doc);
  }
}
