package tdvlucene.prune;

import java.io.IOException;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.NoLockFactory;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;

/** Adds to what a commit says of its index. */
public final class UserData {
  private UserData() {}

  /**
   * Commits entries beside those that there are; segments stay as they are.
   *
   * @param index a new one, which nobody else writes to: no lock is left in its folder
   * @param entries a JSON array of [name, value]
   */
  public static void add(String index, String entries) throws IOException {
    Map<String, String> all = new HashMap<>(Indexes.lastCommit(index).getUserData());
    for (List<String> entry : Json.parseRows(entries)) {
      all.put(entry.get(0), entry.get(1));
    }
    IndexWriterConfig config = new IndexWriterConfig(null);
    config.setOpenMode(IndexWriterConfig.OpenMode.APPEND);
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    try (Directory folder = FSDirectory.open(Paths.get(index), NoLockFactory.INSTANCE);
        IndexWriter writer = new IndexWriter(folder, config)) {
      writer.setLiveCommitData(all.entrySet());
      writer.commit();
    }
  }
}
