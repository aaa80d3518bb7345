package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BytesRefHash;

/**
 * Term vectors made from the pruned postings rather than from the old vectors.
 *
 * <p>Both hold the same, and inverting the postings costs a tenth of decoding the vectors, which
 * are compressed several documents together but read one at a time. It needs every document to
 * have a vector of the field (which Lucene enforces since version 9) and segments without other
 * vectors; elsewhere {@link PrunedVectors} is used.
 *
 * <p>Documents are taken in blocks of at most {@code capacity} postings, with one pass over the
 * postings for each block. Memory: eight bytes for each posting of a block, eight for each
 * document.
 */
final class InvertedVectors extends TermVectorsReader {
  private final TermVectorsReader in;
  private final Pruning pruning;
  private final int capacity;

  /** Terms each document keeps; null until the first document is asked for, as are the texts. */
  private int[] kept;

  private BytesRefHash texts;

  /** The block: documents from {@code first} up to {@code end}. */
  private int first;

  private int end;

  /** Where each document's terms begin, and below where its next one is put. */
  private int[] starts = new int[0];

  private int[] nexts = new int[0];
  private int[] terms = new int[0];
  private int[] freqs = new int[0];

  /** @param capacity postings of a block; a document with more has a block of its own */
  InvertedVectors(TermVectorsReader in, Pruning pruning, int capacity) {
    this.in = in;
    this.pruning = pruning;
    this.capacity = capacity;
  }

  @Override
  public Fields get(int doc) throws IOException {
    if (doc < first || doc >= end) {
      load(doc);
    }
    pruning.job().advance(kept[doc]);
    int start = starts[doc - first];
    int stop = nexts[doc - first];
    return start == stop ? null : new FlatVector(pruning.field(), texts, terms, freqs, start, stop);
  }

  private void load(int from) throws IOException {
    if (kept == null) {
      texts = pruning.table().terms();
      kept = countKept();
    }
    first = from;
    end = from;
    long size = 0;
    while (end < kept.length && (end == first || size + kept[end] <= capacity)) {
      size += kept[end++];
    }
    reserve(Math.toIntExact(size));
    walk((doc, term, freq) -> {
      int next = nexts[doc - first]++;
      terms[next] = term;
      freqs[next] = freq;
    });
  }

  private int[] countKept() throws IOException {
    int[] counts = new int[pruning.segment().reader.maxDoc()];
    first = 0;
    end = counts.length;
    walk((doc, term, freq) -> counts[doc]++);
    return counts;
  }

  private void reserve(int size) {
    terms = ArrayUtil.growNoCopy(terms, size);
    freqs = ArrayUtil.growNoCopy(freqs, size);
    starts = ArrayUtil.growNoCopy(starts, end - first);
    nexts = ArrayUtil.growNoCopy(nexts, end - first);
    int start = 0;
    for (int doc = first; doc < end; doc++) {
      starts[doc - first] = start;
      nexts[doc - first] = start;
      start += kept[doc];
    }
  }

  /** Shows the pruned postings of the block's documents, terms in order. */
  private void walk(Visitor visitor) throws IOException {
    Terms all = pruning.segment().reader.terms(pruning.field());
    if (all == null) {
      return;
    }
    PrunedTermsEnum each =
        new PrunedTermsEnum(all.iterator(), pruning, read -> pruning.job().checkCancelled());
    PostingsEnum postings = null;
    while (each.next() != null) {
      postings = each.postings(postings, PostingsEnum.FREQS);
      int doc = first == 0 ? postings.nextDoc() : postings.advance(first);
      for (; doc < end; doc = postings.nextDoc()) {
        visitor.visit(doc, each.number(), postings.freq());
      }
    }
  }

  private interface Visitor {
    void visit(int doc, int term, int freq);
  }

  @Override
  public void checkIntegrity() throws IOException {
    in.checkIntegrity();
  }

  @Override
  public TermVectorsReader clone() {
    return new InvertedVectors(in.clone(), pruning, capacity);
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
