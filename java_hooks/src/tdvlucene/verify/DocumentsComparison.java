package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.IndexableField;

/** Compares ids, stored fields and doc values, document by document. */
record DocumentsComparison(ComparedIndex source, ComparedIndex pruned) {
  /** Compares the documents with a number, at which the cursors stand. */
  void compare(int number, DocumentCursor old, DocumentCursor found) throws IOException {
    Difference.require("id of document number " + number, old.id(), found.id());
    if (!old.stored().isEqualTo(found.stored())) {
      throw storedDifference(number);
    }
    for (int column = 0; column < old.columns(); column++) {
      DocumentImage expected = old.column(column);
      DocumentImage present = found.column(column);
      if (!expected.isEqualTo(present)) {
        throw new Difference("doc values", expected, present).at("field", old.columnName(column));
      }
    }
  }

  /** Says what differs of two documents known to store different things. */
  private Difference storedDifference(int number) throws IOException {
    List<String> expected = stored(source, number);
    List<String> present = stored(pruned, number);
    for (int i = 0; i < Math.min(expected.size(), present.size()); i++) {
      if (!expected.get(i).equals(present.get(i))) {
        return new Difference("stored field", expected.get(i), present.get(i));
      }
    }
    return new Difference(
        "stored fields", expected.size() + " of them", present.size() + " of them");
  }

  private static List<String> stored(ComparedIndex index, int number) throws IOException {
    Document document = index.reader.storedFields().document(index.live.doc(number));
    List<String> shown = new ArrayList<>();
    for (IndexableField field : document) {
      shown.add(field.toString());
    }
    return shown;
  }
}
