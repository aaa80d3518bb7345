package tdvlucene.common;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.util.SmallFloat;

/**
 * Tokens at the position of another, such as synonyms and words beside their stems. Lucene's
 * similarities do not count them in a document's length ({@code discountOverlaps}).
 *
 * <p>A document's positions cannot be listed without walking the whole dictionary, so some documents
 * of a segment are looked at together.
 */
public final class Overlaps {
  private static final int DOCUMENTS = 100; // of each segment, at most

  private Overlaps() {}

  /**
   * What a document has of a field.
   *
   * @param terms different ones
   * @param places different positions; 0 where the field has none
   */
  public record Counted(int terms, int places) {}

  /** @param docs of a segment, ascending */
  public static List<Counted> count(LeafReader segment, String field, int[] docs)
      throws IOException {
    int[] terms = new int[docs.length];
    BitSet[] places = new BitSet[docs.length];
    for (int i = 0; i < docs.length; i++) {
      places[i] = new BitSet();
    }
    FieldInfo info = segment.getFieldInfos().fieldInfo(field);
    boolean positions = info != null && Index.hasPositions(info);
    FieldPostings postings = new FieldPostings(segment, field);
    while (postings.nextTerm() != null) {
      postings.readPostings(positions ? PostingsEnum.POSITIONS : PostingsEnum.NONE);
      int at = -1;
      for (int i = 0; i < docs.length && at != FieldPostings.END; i++) {
        at = at < docs[i] ? postings.advance(docs[i]) : at;
        if (at != docs[i]) {
          continue;
        }
        terms[i]++;
        for (int left = positions ? postings.freq() : 0; left > 0; left--) {
          places[i].set(postings.nextPosition());
        }
      }
    }
    List<Counted> counted = new ArrayList<>();
    for (int i = 0; i < docs.length; i++) {
      counted.add(new Counted(terms[i], places[i].cardinality()));
    }
    return counted;
  }

  /** Whether the norms of a field are bytes of how many positions documents have, as some show. */
  static boolean tellLengths(IndexReader reader, String field) throws IOException {
    for (LeafReaderContext leaf : reader.leaves()) {
      LeafReader segment = leaf.reader();
      int[] docs = new int[Math.min(DOCUMENTS, segment.maxDoc())];
      for (int i = 0; i < docs.length; i++) {
        docs[i] = (int) ((long) i * segment.maxDoc() / docs.length);
      }
      NumericDocValues norms = segment.getNormValues(field);
      List<Counted> counted = norms == null ? List.of() : count(segment, field, docs);
      for (int i = 0; i < counted.size(); i++) {
        byte expected = SmallFloat.intToByte4(counted.get(i).places);
        if (norms.advanceExact(docs[i]) && (byte) norms.longValue() != expected) {
          return false;
        }
      }
    }
    return true;
  }
}
