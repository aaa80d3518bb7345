package tdvlucene.common;

import java.io.IOException;
import java.util.Collections;
import java.util.Set;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Terms;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;

/**
 * The ids that the collection gave to a segment's documents; to be asked for in ascending order.
 */
public final class ExternalIds {
  private static final String ID = "id";

  private final LeafReaderContext leaf;
  private final String index;
  private final BinaryDocValues column;
  private StoredFields stored;

  public ExternalIds(LeafReaderContext leaf, String index) throws IOException {
    this.leaf = leaf;
    this.index = index;
    this.column = leaf.reader().getBinaryDocValues(ID);
  }

  /** The id of a document of the segment; valid until the next one is asked for. */
  public BytesRef of(int doc) throws IOException {
    return column != null && column.advanceExact(doc) ? column.binaryValue() : storedId(doc);
  }

  /** Refuses an index in which a document has none; of all that have a column it reads no more. */
  public static void requireAll(IndexReader reader, String index) throws IOException {
    for (LeafReaderContext leaf : reader.leaves()) {
      ExternalIds ids = new ExternalIds(leaf, index);
      if (ids.column == null && haveAll(leaf.reader().terms(ID), leaf.reader())) {
        continue;
      }
      Bits live = leaf.reader().getLiveDocs();
      for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
        boolean known = ids.column != null && ids.column.advanceExact(doc);
        if (!known && (live == null || live.get(doc))) {
          ids.storedId(doc);
        }
      }
    }
  }

  private static boolean haveAll(Terms indexed, LeafReader segment) throws IOException {
    return indexed != null && indexed.getDocCount() == segment.maxDoc();
  }

  /** Old Anserini indexes have no doc values for the id, only the stored field. */
  private BytesRef storedId(int doc) throws IOException {
    stored = stored == null ? leaf.reader().storedFields() : stored;
    Set<String> only = Collections.singleton(ID);
    Document document = stored.document(doc, only);
    IndexableField id = document.getField(ID);
    if (id == null || id.stringValue() == null) {
      throw UserException.unlessDamaged(
          "document " + (leaf.docBase + doc) + " of " + index + " has no '" + ID
              + "', by which it is named in runs and judgements: index the collection so that each "
              + "document has one, as Anserini does");
    }
    return new BytesRef(id.stringValue());
  }
}
