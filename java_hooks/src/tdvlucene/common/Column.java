package tdvlucene.common;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SortedNumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.util.BytesRef;

/** The doc values of a field in a segment, to be read in order of documents. */
public interface Column {
  /** A document's values: numbers as {@code Long}, all else as {@code BytesRef} of its own. */
  List<Object> of(int doc) throws IOException;

  /** The column of a field; one without a value where it has no doc values. */
  static Column of(LeafReader segment, String field) throws IOException {
    FieldInfo info = segment.getFieldInfos().fieldInfo(field);
    switch (info == null ? DocValuesType.NONE : info.getDocValuesType()) {
      case NONE:
        return doc -> List.of();
      case BINARY:
        BinaryDocValues bytes = DocValues.getBinary(segment, field);
        return doc ->
            bytes.advanceExact(doc) ? List.of(BytesRef.deepCopyOf(bytes.binaryValue())) : List.of();
      case NUMERIC:
      case SORTED_NUMERIC:
        SortedNumericDocValues numbers = DocValues.getSortedNumeric(segment, field);
        return doc -> {
          List<Object> found = new ArrayList<>();
          for (int i = numbers.advanceExact(doc) ? numbers.docValueCount() : 0; i > 0; i--) {
            found.add(numbers.nextValue());
          }
          return found;
        };
      default:
        SortedSetDocValues terms = DocValues.getSortedSet(segment, field);
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
