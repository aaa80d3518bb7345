import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/** Writes an index as Anserini lays them out, with the Lucene it is run with: see README.md. */
public class WriteIndex {
  public static void main(String[] args) throws Exception {
    IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    config.setUseCompoundFile(false);
    FieldType type = new FieldType();
    type.setIndexOptions(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS);
    type.setStoreTermVectors(true);
    type.setStoreTermVectorPositions(true);
    try (IndexWriter writer = new IndexWriter(FSDirectory.open(Paths.get(args[1])), config)) {
      int number = 0;
      for (String line : Files.readAllLines(Paths.get(args[0]))) {
        if (line.isEmpty()) {
          writer.commit(); // a segment of its own
          continue;
        }
        String id = "d" + number;
        String text = line.startsWith("- ") ? line.substring(2) : line;
        Document document = new Document();
        document.add(new StringField("id", id, Field.Store.YES));
        document.add(new SortedDocValuesField("id", new BytesRef(id)));
        document.add(new StoredField("raw", text));
        document.add(new Field("contents", text, type));
        document.add(new IntPoint("year", 1900 + number));
        writer.addDocument(document);
        number++;
      }
      writer.commit();
      number = 0;
      for (String line : Files.readAllLines(Paths.get(args[0]))) {
        if (line.startsWith("- ")) {
          writer.deleteDocuments(new Term("id", "d" + number));
        }
        number += line.isEmpty() ? 0 : 1;
      }
      writer.commit();
    }
  }
}
