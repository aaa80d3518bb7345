package tdvlucene.prune;

import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BytesRef;
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

  /** Terms each document keeps; null until the first document is asked for, as is the rest. */
  private int[] kept;

  private BytesRefHash texts;

  private Terms postings;

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
    return start == stop ? null : new FlatVector(start, stop);
  }

  private void load(int from) throws IOException {
    if (kept == null) {
      texts = pruning.table().terms();
      postings = pruning.segment().reader.terms(pruning.field());
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
    if (postings == null) {
      return;
    }
    PrunedTermsEnum each =
        new PrunedTermsEnum(postings.iterator(), pruning, read -> pruning.job().checkCancelled());
    PostingsEnum list = null;
    while (each.next() != null) {
      list = each.postings(list, PostingsEnum.FREQS);
      int doc = first == 0 ? list.nextDoc() : list.advance(first);
      for (; doc < end; doc = list.nextDoc()) {
        visitor.visit(doc, each.number(), list.freq());
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

  /** One document's vector, only terms and frequencies; valid until the next block is loaded. */
  private final class FlatVector extends Fields {
    private final int start;
    private final int end;

    private FlatVector(int start, int end) {
      this.start = start;
      this.end = end;
    }

    @Override
    public Iterator<String> iterator() {
      return Collections.singleton(pruning.field()).iterator();
    }

    @Override
    public Terms terms(String name) {
      if (!name.equals(pruning.field())) {
        return null;
      }
      return new PrunedFields.PrunedTerms(postings, pruning) {
        @Override
        public TermsEnum iterator() {
          return new VectorTermsEnum();
        }

        @Override
        public long size() {
          return end - start;
        }
      };
    }

    @Override
    public int size() {
      return 1;
    }

    private final class VectorTermsEnum extends MergeTermsEnum {
      private final BytesRef text = new BytesRef();
      private int at = start - 1;

      @Override
      public BytesRef next() {
        if (++at >= end) {
          return null;
        }
        texts.get(terms[at], text);
        return text;
      }

      @Override
      public BytesRef term() {
        return text;
      }

      @Override
      public long totalTermFreq() {
        return freqs[at];
      }

      @Override
      public int docFreq() {
        return 1;
      }

      @Override
      public PostingsEnum postings(PostingsEnum reuse, int flags) {
        throw MergeTermsEnum.notForMerges();
      }
    }
  }
}
