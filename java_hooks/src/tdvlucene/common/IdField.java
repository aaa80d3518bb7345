package tdvlucene.common;

import java.io.IOException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;

/**
 * The field that names the documents of an index: the one asked for, or that the index records;
 * else Anserini's {@code id}, and where no document has that, their numbers among the live ones.
 *
 * @param field null where documents are named by their numbers
 * @param numbers of the whole index; null unless its documents are named by them
 */
public record IdField(IndexReader reader, Index index, String field, DocumentNumbers numbers) {
  static final String ANSERINIS = "id";

  /** In the commit's user data. */
  private static final String RECORD = "id_field";

  /** There, and where it is asked for, it stands for their numbers. */
  public static final String NUMBERS = "none";

  /** In the commit's user data: that of the index that was pruned. */
  private static final String SEARCHER = "tdv.searcher";

  /** With Lucene 9 Anserini's ids became binary doc values, which sort hits of one score. */
  private static final int FIRST_BINARY = 9;

  /** Finds it in an index that is open. */
  public static IdField of(IndexReader reader, Index index) throws IOException {
    String asked = index.idField();
    String recorded = Index.userData(reader).get(RECORD);
    if (asked != null && recorded != null && !asked.equals(recorded)) {
      throw new UserException(
          index + " records that its documents are named by " + show(recorded) + ", and "
              + "id_field " + asked + " was given: leave it out, or prune the source again by that");
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
        ? new IdField(reader, index, null, new DocumentNumbers(reader))
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

  /**
   * Why an index is not Anserini's, whose searcher it is then not for; empty where it is.
   *
   * <p>Every document of Anserini's has an {@code id}, one whole token with doc values, and {@code
   * contents}. A field called {@code id} alone tells nothing: it is Solr's key, too.
   */
  public static String whyNotAnserinis(IndexReader reader) throws IOException {
    String recorded = Index.userData(reader).get(SEARCHER);
    if (recorded != null) {
      return recorded.equals("anserini") ? "" : "the index that was pruned was not Anserini's";
    }
    FieldInfos fields = FieldInfos.getMergedFieldInfos(reader);
    FieldInfo id = fields.fieldInfo(ANSERINIS);
    FieldInfo contents = fields.fieldInfo("contents");
    if (id == null) {
      return "it has no field 'id'";
    }
    if (id.getIndexOptions() != IndexOptions.DOCS || id.hasNorms()) {
      return "its 'id' is not indexed as one token";
    }
    if (id.getDocValuesType() != columnOfIds(reader)) {
      return "its 'id' has no " + columnOfIds(reader).toString().toLowerCase() + " doc values";
    }
    if (contents == null || !Index.hasFrequencies(contents)) {
      return "it has no field 'contents' with frequencies";
    }
    return "";
  }

  private static DocValuesType columnOfIds(IndexReader reader) {
    DirectoryReader first = Index.shardsOf(reader).get(0);
    int created = Index.commitOf(first).getIndexCreatedVersionMajor();
    return created < FIRST_BINARY ? DocValuesType.SORTED : DocValuesType.BINARY;
  }
}
