package tdvlucene.verify;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.CheckIndex;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.NoLockFactory;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.Lucene;

/** Runs Lucene's CheckIndex with the slow checks: vectors against postings, impacts, norms. */
public final class CheckIndexJob extends Job {
  private final String index;
  private String result = "";

  public CheckIndexJob(String index) {
    this.index = index;
  }

  /** JSON: {@code clean}, and what was printed. */
  @Override
  public String result() {
    return result;
  }

  @Override
  protected void run() throws IOException {
    open(index).close();
    phase("checking the index", 0);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    try (Directory folder = FSDirectory.open(Paths.get(index), NoLockFactory.INSTANCE);
        CheckIndex check = new CheckIndex(folder);
        PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
      check.setInfoStream(stream);
      Lucene.checkSlowly(check);
      Map<String, Object> report = new TreeMap<>();
      report.put("clean", check.checkIndex().clean);
      report.put("output", printed.toString(StandardCharsets.UTF_8));
      result = Json.of(report);
    }
  }
}
