package tdvlucene.inspect;

import java.io.IOException;
import java.math.BigInteger;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.SegmentInfos;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;
import tdvlucene.common.NormKind;
import tdvlucene.common.Searcher;
import tdvlucene.common.Segments;

/** Identifies an index, so that it can be recognised later. */
public final class Identity {
  private Identity() {}

  /** A JSON object: commit id, segments file, Lucene version of the commit, documents. */
  public static String of(String index) throws IOException {
    return Indexes.read(index, reader -> Json.of(of(reader)));
  }

  /**
   * As above, of the commit that is open: what another process commits meanwhile is not in it.
   * Empty for shards, whose commits are several.
   */
  public static Map<String, Object> of(IndexReader reader) {
    Map<String, Object> identity = new TreeMap<>();
    if (Indexes.shardsOf(reader).size() > 1) {
      return identity;
    }
    SegmentInfos infos = Segments.commitOf(reader);
    identity.put("commit", hex(infos.getId()));
    identity.put("segments_file", infos.getSegmentsFileName());
    identity.put("lucene_version", String.valueOf(infos.getCommitLuceneVersion()));
    identity.put("documents", reader.numDocs());
    return identity;
  }

  /** Not Lucene's {@code idToString}, which changed between 9 and 10: one index has one id. */
  private static String hex(byte[] id) {
    return String.format("%0" + 2 * id.length + "x", new BigInteger(1, id));
  }

  /** Whether the frequencies of a field are weights: {@code null} where no norms tell it. */
  public static String holdsWeights(String index, String field) throws IOException {
    NormKind kind = Indexes.read(index, reader -> NormKind.of(reader, field));
    return kind == NormKind.NONE ? "null" : String.valueOf(kind == NormKind.IMPACT);
  }

  /** Why an index is not Anserini's; empty where it is. */
  public static String whyNotAnserinis(String index) throws IOException {
    return Indexes.read(index, Searcher::whyNotAnserinis);
  }

  /** The commit's user data: where a pruned index records how it was made. */
  public static String userData(String index) throws IOException {
    return Json.of(new TreeMap<>(Indexes.lastCommit(index).getUserData()));
  }
}
