package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexableField;

/** Compares ids, stored fields and doc values, document by document. */
final class DocumentsComparison {
  private final ComparedIndex source;
  private final ComparedIndex pruned;
  private final FieldInfos fields;

  DocumentsComparison(ComparedIndex source, ComparedIndex pruned) {
    this.source = source;
    this.pruned = pruned;
    this.fields = FieldInfos.getMergedFieldInfos(source.reader);
  }

  /** Compares the live documents numbered {@code from} up to {@code to}. */
  void compare(int from, int to) throws IOException {
    DocumentCursor old = new DocumentCursor(source, fields);
    DocumentCursor found = new DocumentCursor(pruned, fields);
    DocumentImage expected = new DocumentImage();
    DocumentImage present = new DocumentImage();
    for (int number = from; number < to; number++) {
      old.move(number);
      found.move(number);
      try {
        Difference.require("id of document number " + number, old.id(), found.id());
        old.readStored(expected);
        found.readStored(present);
        if (!expected.isEqualTo(present)) {
          throw storedDifference(number);
        }
        for (int column = 0; column < old.columns(); column++) {
          old.readColumn(column, expected);
          found.readColumn(column, present);
          if (!expected.isEqualTo(present)) {
            throw new Difference("doc values", expected, present)
                .at("field", old.columnName(column));
          }
        }
      } catch (Difference e) {
        throw e.at("segment", pruned.segmentOf(number)).at("document", old.id());
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
