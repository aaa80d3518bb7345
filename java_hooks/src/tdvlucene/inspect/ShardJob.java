package tdvlucene.inspect;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.UserException;

/** Finds out what tells whether a document is in two shards: a hash of each live document's id. */
public final class ShardJob extends Job {
  private final Index index;
  private final Path folder;
  private final Set<Long> wanted = new HashSet<>();
  private final List<String> found = new ArrayList<>();

  /**
   * @param folder gets hashes.npy, 64 bits each
   * @param wanted a JSON array of hashes, as strings, whose ids are asked for
   */
  public ShardJob(Index index, String folder, String wanted) {
    this.index = index;
    this.folder = Paths.get(folder);
    Json.parseStrings(wanted).forEach(number -> this.wanted.add(Long.parseLong(number)));
  }

  /** A JSON array of the ids asked for. */
  @Override
  protected Object run() throws IOException {
    try (IndexReader reader = open(index);
        NpyWriter out = new NpyWriter(folder, "hashes", "<i8")) {
      phase("reading document ids", reader.numDocs());
      if (IdField.of(reader, index).isNumber() && reader.maxDoc() > 0) {
        throw new UserException(
            "documents of " + index + " have no 'id', and in shards their numbers name several: "
                + "index with ids, or merge the shards");
      }
      read(reader, out);
    }
    return found;
  }

  private void read(IndexReader reader, NpyWriter out) throws IOException {
    ExternalIds ids = new ExternalIds(reader, index);
    DocumentNumbers live = new DocumentNumbers(reader);
    for (int number = 0; number < live.size(); number++) {
      progress(number);
      BytesRef id = ids.of(live.doc(number));
      long hash = hash(id);
      out.writeLong(hash);
      if (wanted.contains(hash)) {
        found.add(id.utf8ToString());
      }
    }
  }

  private static long hash(BytesRef id) {
    long high = StringHelper.murmurhash3_x86_32(id, 1);
    return high << Integer.SIZE | StringHelper.murmurhash3_x86_32(id, 2) & 0xffffffffL;
  }
}
