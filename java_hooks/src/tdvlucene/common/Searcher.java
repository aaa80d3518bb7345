package tdvlucene.common;

import java.io.IOException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;

/**
 * Whose searcher an index is for: Anserini's where it holds what Anserini writes, else Lucene's.
 *
 * <p>Every document of Anserini's has an {@code id}, one whole token with doc values, and
 * {@code contents}. A field called {@code id} alone tells nothing: it is Solr's key, too.
 */
public final class Searcher {
  /** In the commit's user data: that of the index that was pruned. */
  private static final String RECORD = "tdv.searcher";

  private static final String ANSERINI = "anserini";

  /** With Lucene 9 Anserini's ids became binary doc values, which sort hits of one score. */
  private static final int FIRST_BINARY = 9;

  private Searcher() {}

  /** Why an index is not Anserini's; empty where it is. */
  public static String whyNotAnserinis(IndexReader reader) throws IOException {
    String recorded = Indexes.userData(reader).get(RECORD);
    if (recorded != null) {
      return recorded.equals(ANSERINI) ? "" : "the index that was pruned was not Anserini's";
    }
    FieldInfos fields = FieldInfos.getMergedFieldInfos(reader);
    FieldInfo id = fields.fieldInfo(IdField.ANSERINIS);
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
    if (contents == null || !Indexes.hasFrequencies(contents)) {
      return "it has no field 'contents' with frequencies";
    }
    return "";
  }

  private static DocValuesType columnOfIds(IndexReader reader) {
    DirectoryReader first = Indexes.shardsOf(reader).get(0);
    int created = Segments.commitOf(first).getIndexCreatedVersionMajor();
    return created < FIRST_BINARY ? DocValuesType.SORTED : DocValuesType.BINARY;
  }
}
