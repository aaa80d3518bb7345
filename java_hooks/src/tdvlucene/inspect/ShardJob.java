package tdvlucene.inspect;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.TermToBytesRefAttribute;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Job;
import tdvlucene.common.Json;
import tdvlucene.common.NpyWriter;
import tdvlucene.common.StoredText;

/**
 * Finds out what shards must have in common, or must not: a hash of each live document's id, and
 * whether a field's terms are those that an analyzer makes of the stored text.
 *
 * <p>An index does not say which analyzer made it; this tells those made by two apart, where they
 * store text. Memory: one document.
 */
public final class ShardJob extends Job {
  private static final int CHECK_EVERY = 1 << 16;
  private static final int SAMPLED = 20;

  private final String index;
  private final String field;
  private final Analyzer analyzer;
  private final Path hashes;
  private final StoredText texts = new StoredText();
  private final Set<Long> wanted = new HashSet<>();
  private final List<String> found = new ArrayList<>();
  private int documents;
  private int analysed;
  private int alike;

  /** @param hashes where to write them, 64 bits each, as an array of NumPy's */
  public ShardJob(String index, String field, Analyzer analyzer, String hashes) {
    this.index = index;
    this.field = field;
    this.analyzer = analyzer;
    this.hashes = Paths.get(hashes);
  }

  /** Also says which ids have one of these hashes. @param numbers a JSON array, as strings */
  public void findIds(String numbers) {
    Json.parseStrings(numbers).forEach(number -> wanted.add(Long.parseLong(number)));
  }

  /** JSON: live documents; those of a sample that store a text; those with just its terms; the ids asked for. */
  @Override
  public String result() {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("documents", documents);
    told.put("analysed", analysed);
    told.put("alike", alike);
    told.put("ids", found);
    return Json.of(told);
  }

  @Override
  protected void run() throws IOException {
    try (DirectoryReader reader = open(index);
        NpyWriter out = new NpyWriter(hashes, "<i8")) {
      phase("reading document ids", reader.maxDoc());
      int step = Math.max(1, reader.numDocs() / SAMPLED);
      for (LeafReaderContext leaf : reader.leaves()) {
        read(leaf, out, step);
      }
    }
  }

  private void read(LeafReaderContext leaf, NpyWriter out, int step) throws IOException {
    ExternalIds ids = new ExternalIds(leaf, index);
    Bits live = leaf.reader().getLiveDocs();
    for (int doc = 0; doc < leaf.reader().maxDoc(); doc++) {
      if (doc % CHECK_EVERY == 0) {
        progress(leaf.docBase + doc);
      }
      if (live == null || live.get(doc)) {
        BytesRef id = ids.of(doc);
        long hash = hash(id);
        out.writeLong(hash);
        if (wanted.contains(hash)) {
          found.add(id.utf8ToString());
        }
        if (documents++ % step == 0) {
          compare(leaf, doc);
        }
      }
    }
  }

  private static long hash(BytesRef id) {
    long high = StringHelper.murmurhash3_x86_32(id, 1);
    return high << Integer.SIZE | StringHelper.murmurhash3_x86_32(id, 2) & 0xffffffffL;
  }

  private void compare(LeafReaderContext leaf, int doc) throws IOException {
    StoredFields stored = leaf.reader().storedFields();
    String text = texts.of(stored.document(doc, StoredText.FIELDS));
    Terms terms = leaf.reader().terms(field);
    if (text != null && terms != null) {
      analysed++;
      alike += hasJust(terms.iterator(), doc, tokens(text)) ? 1 : 0;
    }
  }

  private Map<BytesRef, Integer> tokens(String text) throws IOException {
    Map<BytesRef, Integer> counts = new HashMap<>();
    try (TokenStream stream = analyzer.tokenStream(field, text)) {
      TermToBytesRefAttribute token = stream.addAttribute(TermToBytesRefAttribute.class);
      stream.reset();
      while (stream.incrementToken()) {
        counts.merge(BytesRef.deepCopyOf(token.getBytesRef()), 1, Integer::sum);
      }
      stream.end();
    }
    return counts;
  }

  /** Whether the document has all these terms, as often: others would show among them. */
  private static boolean hasJust(TermsEnum terms, int doc, Map<BytesRef, Integer> tokens)
      throws IOException {
    BytesRef[] sorted = tokens.keySet().toArray(new BytesRef[0]);
    Arrays.sort(sorted);
    for (BytesRef token : sorted) {
      if (!terms.seekExact(token)) {
        return false;
      }
      PostingsEnum postings = terms.postings(null, PostingsEnum.FREQS);
      if (postings.advance(doc) != doc || postings.freq() != tokens.get(token)) {
        return false;
      }
    }
    return true;
  }
}
