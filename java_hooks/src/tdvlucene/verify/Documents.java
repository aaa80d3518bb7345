package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.codecs.StoredFieldsReader;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SortedNumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.index.StoredFieldVisitor;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.IdField;

/**
 * Reads the live documents of an index in order of their numbers, over all segments; for one
 * thread.
 */
final class Documents {
  private final Side side;

  /** The fields with doc values; {@link #columns} has them in the same order. */
  private final List<FieldInfo> described = new ArrayList<>();

  private final List<Column> columns = new ArrayList<>();
  private LeafReaderContext leaf;
  private StoredFieldsReader stored;
  private TermVectorsReader vectors;
  private final ExternalIds ids;
  private int doc;

  /**
   * @param names what names the documents
   * @param fields the columns to read: both sides of a comparison are given the same
   */
  Documents(Side side, IdField names, FieldInfos fields) {
    this.side = side;
    this.ids = new ExternalIds(names);
    for (FieldInfo info : fields) {
      if (info.getDocValuesType() != DocValuesType.NONE) {
        described.add(info);
      }
    }
  }

  /** Compares ids, stored fields and doc values of the documents with a number. */
  static void compare(int number, Documents old, Documents found) throws IOException {
    Difference.require("id of document number " + number, old.id(), found.id());
    requireSame("stored field", old.stored(), found.stored());
    for (int i = 0; i < old.columns.size(); i++) {
      List<Object> expected = old.columns.get(i).values(old.doc);
      List<Object> present = found.columns.get(i).values(found.doc);
      Difference.in("field", old.described.get(i).name,
          () -> requireSame("doc values", expected, present));
    }
  }

  private static void requireSame(String what, List<Object> expected, List<Object> present) {
    for (int i = 0; i < Math.max(expected.size(), present.size()); i++) {
      Object old = i < expected.size() ? expected.get(i) : "none";
      Object found = i < present.size() ? present.get(i) : "none";
      if (!old.equals(found)) {
        throw new Difference(what, old, found);
      }
    }
  }

  /** Moves to the live document with a number. */
  void move(int number) throws IOException {
    int global = side.live.doc(number);
    if (leaf == null || global >= leaf.docBase + leaf.reader().maxDoc()) {
      leaf = side.leafOf(global);
      CodecReader reader = (CodecReader) leaf.reader();
      // For merging: documents compressed together are decompressed once, not once each.
      stored = reader.getFieldsReader().getMergeInstance();
      TermVectorsReader all = reader.getTermVectorsReader();
      vectors = all == null ? null : all.getMergeInstance();
      columns.clear();
      for (FieldInfo info : described) {
        columns.add(column(reader, info.name, info.getDocValuesType()));
      }
    }
    doc = global - leaf.docBase;
  }

  String id() throws IOException {
    return ids.of(leaf.docBase + doc).utf8ToString();
  }

  /** The document's term vectors; null for none. */
  Fields vectors() throws IOException {
    return vectors == null ? null : vectors.get(doc);
  }

  /** A stored field and its value, which equals another of the same kind only. */
  private record Stored(String field, Object value) {
    @Override
    public String toString() {
      return field + ": " + value;
    }
  }

  private List<Object> stored() throws IOException {
    List<Object> found = new ArrayList<>();
    stored.document(doc, new StoredFieldVisitor() {
      @Override
      public Status needsField(FieldInfo field) {
        return Status.YES;
      }

      @Override
      public void binaryField(FieldInfo field, byte[] value) {
        found.add(new Stored(field.name, new BytesRef(value)));
      }

      @Override
      public void stringField(FieldInfo field, String value) {
        found.add(new Stored(field.name, value));
      }

      @Override
      public void intField(FieldInfo field, int value) {
        found.add(new Stored(field.name, value));
      }

      @Override
      public void longField(FieldInfo field, long value) {
        found.add(new Stored(field.name, value));
      }

      @Override
      public void floatField(FieldInfo field, float value) {
        found.add(new Stored(field.name, value));
      }

      @Override
      public void doubleField(FieldInfo field, double value) {
        found.add(new Stored(field.name, value));
      }
    });
    return found;
  }

  /** A segment's doc values of one field, read in order of documents. */
  private interface Column {
    List<Object> values(int doc) throws IOException;
  }

  private static Column column(LeafReader leaf, String field, DocValuesType type)
      throws IOException {
    switch (type) {
      case BINARY:
        BinaryDocValues bytes = DocValues.getBinary(leaf, field);
        return doc ->
            bytes.advanceExact(doc) ? List.of(BytesRef.deepCopyOf(bytes.binaryValue())) : List.of();
      case NUMERIC:
      case SORTED_NUMERIC:
        SortedNumericDocValues numbers = DocValues.getSortedNumeric(leaf, field);
        return doc -> {
          List<Object> found = new ArrayList<>();
          for (int i = numbers.advanceExact(doc) ? numbers.docValueCount() : 0; i > 0; i--) {
            found.add(numbers.nextValue());
          }
          return found;
        };
      default:
        SortedSetDocValues terms = DocValues.getSortedSet(leaf, field);
        return doc -> {
          List<Object> found = new ArrayList<>();
          for (long i = terms.advanceExact(doc) ? terms.docValueCount() : 0; i > 0; i--) {
            found.add(BytesRef.deepCopyOf(terms.lookupOrd(terms.nextOrd())));
          }
          return found;
        };
    }
  }
}
