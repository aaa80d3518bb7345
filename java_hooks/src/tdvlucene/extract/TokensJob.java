package tdvlucene.extract;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.StoredFields;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.StoredText;
import tdvlucene.common.Tokens;
import tdvlucene.common.UserException;

/**
 * Writes the stored text of every live document that has some as a line of analysed tokens.
 *
 * <p>The text is that of {@link StoredText}. Memory: one document.
 */
public final class TokensJob extends Job {
  private static final String FIELD = "contents";

  private final StoredText texts = new StoredText(FIELD);
  private final Index index;
  private final Analyzer analyzer;
  private final String output;
  private int written;

  public TokensJob(Index index, Analyzer analyzer, String output) {
    this.index = index;
    this.analyzer = analyzer;
    this.output = output;
  }

  /** The number of documents that had a text. */
  @Override
  protected Object run() throws IOException {
    try (IndexReader reader = open(index);
        Writer lines = Files.newBufferedWriter(Paths.get(output), StandardCharsets.UTF_8)) {
      for (LeafReaderContext leaf : reader.leaves()) {
        ((CodecReader) leaf.reader()).getFieldsReader().checkIntegrity();
      }
      write(reader, lines);
    }
    if (written == 0) {
      throw new UserException(
          index + " stores no text (neither 'contents' nor 'raw'): vectors can be made from its "
              + "matrix or read from a file instead");
    }
    return written;
  }

  private void write(IndexReader reader, Writer lines) throws IOException {
    DocumentNumbers live = new DocumentNumbers(reader);
    StoredFields stored = reader.storedFields();
    phase("analyse stored text", live.size());
    for (int number = 0; number < live.size(); number++) {
      progress(number);
      String text = texts.of(stored.document(live.doc(number), texts.fields()));
      if (text != null) {
        writeTokens(text, lines);
        written++;
      }
    }
  }

  private void writeTokens(String text, Writer lines) throws IOException {
    try (Tokens tokens = new Tokens(analyzer, FIELD, text)) {
      while (tokens.next()) {
        lines.append(tokens.text).append(' ');
      }
    }
    lines.append('\n');
  }
}
