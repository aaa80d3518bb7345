package tdvlucene.verify;

import java.io.IOException;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SortedNumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;

/** A segment's doc values of one field, of any type, read in order of documents. */
interface Column {
  /** Adds the document's values to its image: nothing when it has none. */
  void add(int doc, DocumentImage image) throws IOException;

  static Column of(LeafReader leaf, String field, DocValuesType type) throws IOException {
    switch (type) {
      case BINARY:
        BinaryDocValues bytes = DocValues.getBinary(leaf, field);
        return (doc, image) -> {
          if (bytes.advanceExact(doc)) {
            image.add(bytes.binaryValue());
          }
        };
      case NUMERIC:
      case SORTED_NUMERIC:
        SortedNumericDocValues numbers = DocValues.getSortedNumeric(leaf, field);
        return (doc, image) -> {
          for (int i = numbers.advanceExact(doc) ? numbers.docValueCount() : 0; i > 0; i--) {
            image.add(numbers.nextValue());
          }
        };
      case SORTED:
      case SORTED_SET:
        SortedSetDocValues terms = DocValues.getSortedSet(leaf, field);
        return (doc, image) -> {
          for (long i = terms.advanceExact(doc) ? terms.docValueCount() : 0; i > 0; i--) {
            image.add(terms.lookupOrd(terms.nextOrd()));
          }
        };
      default:
        return (doc, image) -> {};
    }
  }
}
