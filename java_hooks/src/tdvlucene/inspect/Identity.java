package tdvlucene.inspect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.SegmentInfos;
import tdvlucene.common.FrequencyKind;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.Json;
import tdvlucene.common.WrittenSegments;

/** Describes an index without a look at its postings and norms. */
public final class Identity {
  private Identity() {}

  /**
   * Opens the last commit of an index, which is held from now on.
   *
   * <p>A JSON object: {@code commits}, of each shard what identifies it, its user data, and what
   * another writer did {@code since} they were written; {@code fields} by name; bytes of {@code files} by extension; why it is not Anserini's, empty where it is.
   */
  public static String open(Index index) throws IOException {
    index.hold();
    return index.read(reader -> {
      List<Object> commits = new ArrayList<>();
      for (DirectoryReader shard : Index.shardsOf(reader)) {
        SegmentInfos infos = Index.commitOf(shard);
        Map<String, Object> commit = new TreeMap<>();
        // Not Lucene's idToString, which changed between 9 and 10: one index has one id.
        commit.put("commit", HexFormat.of().formatHex(infos.getId()));
        commit.put("segments_file", infos.getSegmentsFileName());
        commit.put("lucene_version", String.valueOf(infos.getCommitLuceneVersion()));
        commit.put("documents", shard.numDocs());
        commit.put("deleted", Index.countDeleted(shard));
        commit.put("user_data", new TreeMap<>(Index.userData(shard)));
        commit.put("since", new WrittenSegments(infos).since());
        commits.add(commit);
      }
      Map<String, Object> fields = new TreeMap<>();
      for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
        boolean hasFrequencies = Index.hasFrequencies(info);
        fields.put(
            info.name, Map.of("has_norms", info.hasNorms(), "has_frequencies", hasFrequencies));
      }
      Map<String, Object> found = new TreeMap<>();
      found.put("commits", commits);
      found.put("fields", fields);
      found.put("files", Index.fileSizes(reader));
      found.put("why_not_anserinis", IdField.whyNotAnserinis(reader));
      return Json.of(found);
    });
  }

  /**
   * The {@link FrequencyKind} of a field, which takes a look at all its norms. Refuses features.
   */
  public static String frequencies(Index index, String field) throws IOException {
    return index.read(reader -> {
      if (Index.hasField(reader, field)) { // a shard may lack it
        Index.requireFrequencies(reader, index, field);
      }
      return FrequencyKind.of(reader, field).toString();
    });
  }
}
