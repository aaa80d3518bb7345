package tdvlucene.common;

import java.io.IOException;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;

/**
 * What names the documents of an index: the field that was asked for, or that the index records;
 * else Anserini's {@code id}, and where no document has that, their numbers among the live ones.
 *
 * @param field null where documents are named by their numbers
 * @param numbers of the whole index; null unless its documents are named by them
 */
public record IdField(IndexReader reader, Index index, String field, DocumentNumbers numbers) {
  static final String ANSERINIS = "id";

  /** Of the commit's user data. */
  private static final String RECORD = "id_field";

  /** Of that, and of what is asked for: their numbers. */
  public static final String NUMBERS = "none";

  /** That of an index, of which a reader is open. */
  public static IdField of(IndexReader reader, Index index) throws IOException {
    String asked = index.idField();
    String recorded = Indexes.userData(reader).get(RECORD);
    if (asked != null && recorded != null && !asked.equals(recorded)) {
      throw new UserException(
          index + " records that its documents are named by " + show(recorded) + ", and "
              + UserException.argument("id_field", asked) + " was given: leave it out");
    }
    FieldInfos fields = FieldInfos.getMergedFieldInfos(reader);
    String name = asked != null ? asked : recorded;
    if (name == null) {
      name = fields.fieldInfo(ANSERINIS) != null ? ANSERINIS : NUMBERS;
    } else if (!name.equals(NUMBERS) && fields.fieldInfo(name) == null && reader.maxDoc() > 0) {
      throw new UserException(
          "no field '" + name + "' in " + index + ", by which documents are to be named: see "
              + "'inspect' for the fields that name each");
    }
    return name.equals(NUMBERS)
        ? new IdField(reader, index, null, DocumentNumbers.ofLive(reader))
        : new IdField(reader, index, name, null);
  }

  /** Whether it is the field by which Anserini, Pyserini and their tools name documents. */
  public boolean isId() {
    return ANSERINIS.equals(field);
  }

  public boolean isNumber() {
    return field == null;
  }

  /** In words. */
  public String show() {
    return show(field == null ? NUMBERS : field);
  }

  private static String show(String name) {
    return name.equals(NUMBERS) ? "their numbers" : "'" + name + "'";
  }
}
