package tdvlucene.inspect;

import java.io.IOException;
import java.math.BigInteger;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.SegmentInfos;
import tdvlucene.common.FrequencyKind;
import tdvlucene.common.IdField;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;
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

  /**
   * A JSON object: {@code norms}, whether the field has any, and {@code frequencies}, their {@link
   * FrequencyKind}. Refuses features.
   */
  public static String frequencies(String index, String field) throws IOException {
    return Indexes.read(index, reader -> {
      boolean norms = // a shard may lack the field
          Indexes.hasField(reader, field) && Indexes.requireFrequencies(reader, index, field).hasNorms();
      String kind = FrequencyKind.of(reader, field).toString();
      return Json.of(Map.of("norms", norms, "frequencies", kind));
    });
  }

  /** Whether it has the field by which Anserini, Pyserini and their tools name documents. */
  public static boolean isAnserinis(String index) throws IOException {
    return Indexes.read(index, IdField::isIn);
  }

  /** The commit's user data: where a pruned index records how it was made. */
  public static String userData(String index) throws IOException {
    return Json.of(new TreeMap<>(Indexes.lastCommit(index).getUserData()));
  }
}
