package tdvlucene.prune;

import java.io.Closeable;
import java.io.IOException;
import org.apache.lucene.index.IndexReader;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;
import tdvlucene.inspect.Identity;

/**
 * Keeps a commit of an index open, so that several jobs see the same.
 *
 * <p>A writer may go on: what is open stays as it is, files that are deleted meanwhile too.
 */
public final class OpenCommit implements Closeable {
  final String index;
  final IndexReader reader;

  public OpenCommit(String index) throws IOException {
    this.index = index;
    this.reader = Indexes.open(index);
  }

  /** As {@link Identity#of(String)}, of this commit. */
  public String identity() {
    return Json.of(Identity.of(reader));
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
