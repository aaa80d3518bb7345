package tdvlucene.common;

import java.io.IOException;
import java.util.Locale;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.Terms;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.SmallFloat;

/**
 * The content of a field's norms, inferred from their sum without reading postings.
 *
 * <p>A reader does not say which similarity wrote its norms. But norms and the field's number of
 * tokens both count deleted documents, so their sums must agree: exactly for exact lengths, and
 * within an eighth for {@link SmallFloat#intToByte4}, which keeps four significant bits.
 */
public enum NormKind {
  /** The field has none. */
  NONE,
  /** Lucene's default: {@link SmallFloat#intToByte4} of the length. */
  DEFAULT,
  /** The exact length: Anserini's {@code -bm25.accurate}. */
  ACCURATE,
  /** 1 for every document, although some are longer: Anserini's {@code -impact}. */
  IMPACT,
  /** As the default, of lengths in which {@link Overlaps} do not count, as positions show. */
  OVERLAPS,
  /** Lengths that hold k1 and b: see {@link BakedNorms}. */
  BAKED,
  /** In some segments only: norms were turned off later, as Elasticsearch 7 and Solr 8 allow. */
  PARTIAL,
  /** A byte of something else. */
  UNKNOWN,
  /** Numbers that only the similarity which wrote them can read. */
  UNREADABLE;

  /** Largest part of a length that four significant bits lose. */
  private static final double BYTE_LOSS = 1.0 / 8;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Why norms of this kind cannot be rewritten; empty when they can. */
  public String whyNotPruned() {
    switch (this) {
      case BAKED:
        return "it was pruned or tuned already, and its norms hold k1 and b, not document lengths; "
            + "use the source that it was made of";
      case PARTIAL:
        return "some of its segments have norms and others have none, since norms were turned off "
            + "later, so that lengths count in some documents only; merge all segments into one "
            + "(forceMerge(1)), which drops the rest, or index the collection again";
      case UNKNOWN:
        return "its norms are bytes of neither its documents' lengths nor, as far as positions "
            + "show, of lengths without tokens at the place of another (synonyms, words beside "
            + "stems), so they cannot be computed anew; index it with positions "
            + "(-storePositions) and Lucene's default similarity";
      case UNREADABLE:
        return "its norms are neither bytes nor exact lengths (-bm25.accurate), so they cannot be "
            + "computed anew; index the collection with Anserini's default similarity";
      default:
        return "";
    }
  }

  /** The norm of a document with {@code length} tokens; 0 for none, as Lucene demands. */
  public long encode(int length) {
    if (this == IMPACT) {
      return Math.min(length, 1);
    }
    return this == ACCURATE ? length : SmallFloat.intToByte4(length);
  }

  /**
   * The norm of a document that had {@code before} tokens and now has {@code after}. Where its old
   * norm did not count all of them, the new one counts the same share.
   */
  public long follow(long old, int before, int after) {
    if (this == IMPACT || after == 0 || old == encode(before)) {
      return encode(after);
    }
    double counted = (double) decode(old) / before;
    return after == before ? old : encode((int) Math.max(1, Math.rint(counted * after)));
  }

  /** The length that a norm stands for: of a byte, the smallest it can. */
  public int decode(long norm) {
    return this == ACCURATE ? Math.toIntExact(norm) : SmallFloat.byte4ToInt((byte) norm);
  }

  /** Tells the kind of norms of a field; where lengths cannot tell, the default. */
  public static NormKind of(IndexReader reader, String field) throws IOException {
    FieldInfo info = FieldInfos.getMergedFieldInfos(reader).fieldInfo(field);
    if (info == null || !info.hasNorms()) {
      return anySegmentHas(reader, field) ? PARTIAL : NONE;
    }
    if (Index.recorded(reader, field, BakedNorms.RECORD) != null) {
      return BAKED;
    }
    Sums sums = new Sums();
    for (LeafReaderContext leaf : reader.leaves()) {
      sums.add(leaf.reader(), field);
    }
    NormKind kind = sums.kind();
    boolean isByte = kind == UNKNOWN || kind == IMPACT; // of one word and its synonyms, norms are 1
    if (isByte
        && sums.decoded < sums.tokens
        && Index.hasPositions(info)
        && Overlaps.tellLengths(reader, field)) {
      return OVERLAPS;
    }
    if (kind == UNKNOWN || kind == UNREADABLE) { // or damaged: no kind at all
      for (LeafReaderContext leaf : reader.leaves()) {
        NormsProducer norms = ((CodecReader) leaf.reader()).getNormsReader();
        if (norms != null) {
          norms.checkIntegrity();
        }
      }
    }
    return kind;
  }

  private static boolean anySegmentHas(IndexReader reader, String field) throws IOException {
    for (LeafReaderContext leaf : reader.leaves()) {
      if (leaf.reader().getNormValues(field) != null) {
        return true;
      }
    }
    return false;
  }

  /** As above; of baked norms, the kind of the lengths that hold k1 and b. */
  public static NormKind ofLengths(IndexReader reader, String field) throws IOException {
    NormKind kind = of(reader, field);
    if (kind != BAKED) {
      return kind;
    }
    for (DirectoryReader shard : Index.shardsOf(reader)) {
      if (shard.getSumDocFreq(field) > 0) { // else it has no norms to tell their kind
        return valueOf(Index.recorded(shard, field, BakedNorms.RECORD));
      }
    }
    return DEFAULT;
  }

  private static final class Sums {
    private long tokens;
    private long documents;
    private long exact;
    private long decoded;
    private boolean allBytes = true;

    private void add(LeafReader leaf, String field) throws IOException {
      Terms terms = leaf.terms(field);
      tokens += terms == null ? 0 : terms.getSumTotalTermFreq();
      NumericDocValues norms = leaf.getNormValues(field);
      while (norms != null && norms.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
        long norm = norms.longValue();
        documents += norm == 0 ? 0 : 1;
        exact += norm;
        allBytes &= norm == (byte) norm;
        decoded += SmallFloat.byte4ToInt((byte) norm);
      }
    }

    private NormKind kind() {
      if (exact == documents && tokens > documents) {
        return IMPACT; // a byte tells a length of up to 40 exactly
      }
      if (allBytes && decoded <= tokens && decoded >= tokens * (1 - BYTE_LOSS)) {
        return DEFAULT;
      }
      return exact == tokens ? ACCURATE : allBytes ? UNKNOWN : UNREADABLE;
    }
  }
}
