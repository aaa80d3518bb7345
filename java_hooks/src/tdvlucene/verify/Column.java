package tdvlucene.verify;

import java.io.IOException;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.index.SortedNumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;

/** A segment's doc values of one field, of any type, read in order of documents. */
interface Column {
  /** Adds the document's values to its image: nothing when it has none. */
  void add(int doc, DocumentImage image) throws IOException;

  static Column of(LeafReader leaf, String field, DocValuesType type) throws IOException {
    switch (type) {
      case NUMERIC:
        return numeric(leaf.getNumericDocValues(field));
      case BINARY:
        return binary(leaf.getBinaryDocValues(field));
      case SORTED:
        return sorted(leaf.getSortedDocValues(field));
      case SORTED_NUMERIC:
        return sortedNumeric(leaf.getSortedNumericDocValues(field));
      case SORTED_SET:
        return sortedSet(leaf.getSortedSetDocValues(field));
      default:
        return (doc, image) -> {};
    }
  }

  static Column numeric(NumericDocValues values) {
    return (doc, image) -> {
      if (values != null && values.advanceExact(doc)) {
        image.add(values.longValue());
      }
    };
  }

  static Column binary(BinaryDocValues values) {
    return (doc, image) -> {
      if (values != null && values.advanceExact(doc)) {
        image.add(values.binaryValue());
      }
    };
  }

  static Column sorted(SortedDocValues values) {
    return (doc, image) -> {
      if (values != null && values.advanceExact(doc)) {
        image.add(values.lookupOrd(values.ordValue()));
      }
    };
  }

  static Column sortedNumeric(SortedNumericDocValues values) {
    return (doc, image) -> {
      if (values != null && values.advanceExact(doc)) {
        for (int i = values.docValueCount(); i > 0; i--) {
          image.add(values.nextValue());
        }
      }
    };
  }

  static Column sortedSet(SortedSetDocValues values) {
    return (doc, image) -> {
      if (values != null && values.advanceExact(doc)) {
        for (long i = values.docValueCount(); i > 0; i--) {
          image.add(values.lookupOrd(values.nextOrd()));
        }
      }
    };
  }
}
