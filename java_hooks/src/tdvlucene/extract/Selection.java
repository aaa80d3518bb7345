package tdvlucene.extract;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.FixedBitSet;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.UserException;

/**
 * Finds the documents whose ids are listed in a file. Memory: the ids, and a bit and a half for
 * each document.
 */
final class Selection {
  private static final int CHECK_EVERY = 1 << 16;
  private static final int SHOWN = 5;

  private final String index;
  private final Path file;

  Selection(String index, Path file) {
    this.index = index;
    this.file = file;
  }

  /** Finds the live documents named; refuses ids the index lacks. */
  DocumentNumbers of(IndexReader reader, LongConsumer progress) throws IOException {
    Set<BytesRef> wanted = new LinkedHashSet<>();
    for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
      if (!line.isEmpty()) {
        wanted.add(new BytesRef(line));
      }
    }
    Set<BytesRef> found = new HashSet<>();
    FixedBitSet documents = new FixedBitSet(reader.maxDoc());
    for (LeafReaderContext leaf : reader.leaves()) {
      progress.accept(leaf.docBase);
      find(leaf, wanted, found, documents, progress);
    }
    if (found.size() < wanted.size()) {
      wanted.removeAll(found);
      throw new UserException(
          wanted.size() + " of the documents asked for are not in " + index + ": " + show(wanted));
    }
    return new DocumentNumbers(documents);
  }

  private void find(
      LeafReaderContext leaf, Set<BytesRef> wanted, Set<BytesRef> found, FixedBitSet documents,
      LongConsumer progress)
      throws IOException {
    ExternalIds ids = new ExternalIds(leaf, index);
    Bits live = leaf.reader().getLiveDocs();
    for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
      if (live == null || live.get(doc)) {
        BytesRef id = ids.of(doc);
        if (wanted.contains(id)) {
          documents.set(leaf.docBase + doc);
          found.add(BytesRef.deepCopyOf(id));
        }
      }
      if (doc % CHECK_EVERY == 0) {
        progress.accept(leaf.docBase + doc);
      }
    }
  }

  private static String show(Set<BytesRef> missing) {
    List<String> first =
        missing.stream().limit(SHOWN).map(BytesRef::utf8ToString).collect(Collectors.toList());
    return String.join(", ", first) + (missing.size() > SHOWN ? ", ..." : "");
  }
}
