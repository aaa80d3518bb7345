package tdvlucene.prune;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Terms;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.UserException;

/**
 * The TDVs of a field's terms, stored in the index for a similarity that applies them at search.
 *
 * <p>They are the binary doc value of one document, in a field of their own. So whatever copies,
 * merges, compresses or replicates the index takes them along, no reader meets them unasked, and
 * they cost little more than a byte for each term. The alternatives are worse: a file beside
 * Lucene's would be lost by every tool that copies what the commit lists; the commit's user data
 * is text and is read whenever the index is opened; terms of a second field would repeat the
 * dictionary.
 *
 * <p>The TDVs hold only for the terms the index had when they were written. So the field's numbers
 * of postings and tokens are stored with them, and an index with other numbers is refused.
 */
public final class StoredTdvs {
  private static final String PREFIX = "tdv.values.";
  private static final int FORMAT = 1;
  private static final int MOST_DISTINCT = 1 << 16;

  private final long postings;
  private final long tokens;
  private final double lengthUnit;
  private final float[] distinct;
  private final XorTable numbers;

  private StoredTdvs(
      long postings, long tokens, double lengthUnit, float[] distinct, XorTable numbers) {
    this.postings = postings;
    this.tokens = tokens;
    this.lengthUnit = lengthUnit;
    this.distinct = distinct;
    this.numbers = numbers;
  }

  /** The doc values field that holds the TDVs of {@code field}. */
  public static String nameFor(String field) {
    return PREFIX + field;
  }

  /** The TDV of a term that the field has; for any other term, some arbitrary number. */
  public float of(BytesRef term) {
    return distinct[Math.min(numbers.get(term), distinct.length - 1)];
  }

  /**
   * What a document's length is in the index where it is 1 after weighting: lengths are stored so
   * that they sum to the field's tokens.
   */
  public double lengthUnit() {
    return lengthUnit;
  }

  /**
   * Encodes the TDVs that are not 0.
   *
   * @param table at most 65,536 distinct TDVs
   */
  static StoredTdvs of(TermTable table, long postings, long tokens, double lengthUnit)
      throws IOException {
    float[] tdv = table.tdv();
    float[] distinct = distinct(tdv);
    int count = 0;
    for (float each : tdv) {
      count += each > 0 ? 1 : 0;
    }
    int bits = 32 - Integer.numberOfLeadingZeros(Math.max(0, distinct.length - 1));
    XorTable numbers =
        XorTable.of(
            visitor -> {
              TermTable.Cursor cursor = table.cursor();
              for (int term = 0; term < tdv.length; term++) {
                if (tdv[term] > 0) {
                  cursor.seek(term);
                  visitor.visit(cursor.term(), Arrays.binarySearch(distinct, tdv[term]));
                }
              }
            },
            count, bits);
    return new StoredTdvs(postings, tokens, lengthUnit, distinct, numbers);
  }

  private static float[] distinct(float[] tdv) {
    float[] sorted = tdv.clone();
    Arrays.sort(sorted);
    int kept = 0;
    for (float each : sorted) {
      if (each > 0 && (kept == 0 || each > sorted[kept - 1])) {
        sorted[kept++] = each;
      }
    }
    if (kept > MOST_DISTINCT) {
      throw new IllegalArgumentException(kept + " distinct TDVs, at most " + MOST_DISTINCT);
    }
    return Arrays.copyOf(sorted, Math.max(1, kept));
  }

  /** The binary doc value. */
  BytesRef encode() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(FORMAT);
    out.writeLong(postings);
    out.writeLong(tokens);
    out.writeDouble(lengthUnit);
    out.writeInt(distinct.length);
    for (float each : distinct) {
      out.writeFloat(each);
    }
    numbers.write(out);
    return new BytesRef(bytes.toByteArray());
  }

  private static StoredTdvs decode(BytesRef bytes) throws IOException {
    DataInputStream in =
        new DataInputStream(new ByteArrayInputStream(bytes.bytes, bytes.offset, bytes.length));
    int format = in.readInt();
    if (format != FORMAT) {
      throw UserException.unlessDamaged(
          "the index's TDVs have format " + format + ", this version reads " + FORMAT
              + ": install the tdv-lucene that pruned it, or prune its source again");
    }
    long postings = in.readLong();
    long tokens = in.readLong();
    double lengthUnit = in.readDouble();
    float[] distinct = new float[in.readInt()];
    for (int i = 0; i < distinct.length; i++) {
      distinct[i] = in.readFloat();
    }
    return new StoredTdvs(postings, tokens, lengthUnit, distinct, XorTable.read(in));
  }

  /** Reads the TDVs of a field; refuses an index without, or whose field has changed since. */
  public static StoredTdvs read(IndexReader reader, String field) throws IOException {
    StoredTdvs tdvs = find(reader.leaves(), nameFor(field));
    if (tdvs == null) {
      throw UserException.unlessDamaged(
          "the index has no TDVs for field '" + field + "' (doc values '" + nameFor(field)
              + "'): it was not made by 'prune --tf similarity', or the document that held them "
              + "was deleted; prune its source again");
    }
    long postings = 0;
    long tokens = 0;
    for (LeafReaderContext leaf : reader.leaves()) {
      Terms terms = leaf.reader().terms(field);
      postings += terms == null ? 0 : terms.getSumDocFreq();
      tokens += terms == null ? 0 : terms.getSumTotalTermFreq();
    }
    if (postings != tdvs.postings || tokens != tdvs.tokens) {
      throw UserException.unlessDamaged(
          "the index's TDVs are of another vocabulary: field '" + field + "' has " + postings
              + " postings and " + tokens + " tokens, and had " + tdvs.postings + " and "
              + tdvs.tokens + " when it was pruned; documents were added or merged away since, so "
              + "prune its source again");
    }
    return tdvs;
  }

  private static StoredTdvs find(List<LeafReaderContext> leaves, String name)
      throws IOException {
    for (LeafReaderContext leaf : leaves) {
      BinaryDocValues values = leaf.reader().getBinaryDocValues(name);
      if (values != null && values.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
        return decode(values.binaryValue());
      }
    }
    return null;
  }
}
