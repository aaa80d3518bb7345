package tdvlucene.index;

import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.BaseTermsEnum;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.ImpactsEnum;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BytesRef;

/** Pruned vectors of some consecutive documents, terms and frequencies only, in flat arrays. */
final class VectorBlock {
  static final int DOCUMENTS = 128;

  /** The block holds documents from {@code number * DOCUMENTS}. */
  final int number;

  private final String field;
  private byte[] bytes = new byte[1 << 14];
  private int[] ends = new int[1 << 12];
  private int[] freqs = new int[1 << 12];
  private int terms;

  /** Terms before each document. */
  private final int[] starts = new int[DOCUMENTS + 1];

  VectorBlock(Pruning pruning, TermVectorsReader vectors, int number) throws IOException {
    this.number = number;
    this.field = pruning.field;
    int first = number * DOCUMENTS;
    for (int i = 0; i < DOCUMENTS; i++) {
      int doc = first + i;
      if (doc < pruning.segment.reader.maxDoc() && pruning.segment.isLive(doc)) {
        read(pruning, vectors.get(doc), doc);
      }
      starts[i + 1] = terms;
    }
    pruning.job.advance(terms);
  }

  private void read(Pruning pruning, Fields vectors, int doc) throws IOException {
    Terms vector = vectors == null ? null : vectors.terms(field);
    if (vector == null) {
      return;
    }
    TermsEnum each = vector.iterator();
    for (BytesRef term = each.next(); term != null; term = each.next()) {
      int freq = pruning.vectorFreq(term, each.totalTermFreq(), doc);
      if (freq > 0) {
        add(term, freq);
      }
    }
  }

  private void add(BytesRef term, int freq) {
    int start = terms == 0 ? 0 : ends[terms - 1];
    bytes = ArrayUtil.grow(bytes, start + term.length);
    ends = ArrayUtil.grow(ends, terms + 1);
    freqs = ArrayUtil.grow(freqs, terms + 1);
    System.arraycopy(term.bytes, term.offset, bytes, start, term.length);
    ends[terms] = start + term.length;
    freqs[terms++] = freq;
  }

  /** The document's vector, null when no term of it is left. */
  Fields get(int doc) {
    int place = doc - number * DOCUMENTS;
    boolean empty = starts[place] == starts[place + 1];
    return empty ? null : new OneField(new Vector(starts[place], starts[place + 1]));
  }

  private final class OneField extends Fields {
    private final Terms vector;

    private OneField(Terms vector) {
      this.vector = vector;
    }

    @Override
    public Iterator<String> iterator() {
      return Collections.singleton(field).iterator();
    }

    @Override
    public Terms terms(String name) {
      return name.equals(field) ? vector : null;
    }

    @Override
    public int size() {
      return 1;
    }
  }

  private final class Vector extends Terms {
    private final int start;
    private final int end;

    private Vector(int start, int end) {
      this.start = start;
      this.end = end;
    }

    @Override
    public TermsEnum iterator() {
      return new VectorTerms(start, end);
    }

    @Override
    public long size() {
      return end - start;
    }

    @Override
    public long getSumTotalTermFreq() {
      throw mergeOnly();
    }

    @Override
    public long getSumDocFreq() {
      return size();
    }

    @Override
    public int getDocCount() {
      return 1;
    }

    @Override
    public boolean hasFreqs() {
      return true;
    }

    @Override
    public boolean hasPositions() {
      return false;
    }

    @Override
    public boolean hasOffsets() {
      return false;
    }

    @Override
    public boolean hasPayloads() {
      return false;
    }
  }

  private final class VectorTerms extends BaseTermsEnum {
    private final int end;
    private final BytesRef term = new BytesRef();
    private int place;

    private VectorTerms(int start, int end) {
      this.place = start - 1;
      this.end = end;
    }

    @Override
    public BytesRef next() {
      if (++place >= end) {
        return null;
      }
      term.bytes = bytes;
      term.offset = place == 0 ? 0 : ends[place - 1];
      term.length = ends[place] - term.offset;
      return term;
    }

    @Override
    public BytesRef term() {
      return term;
    }

    @Override
    public long totalTermFreq() {
      return freqs[place];
    }

    @Override
    public int docFreq() {
      return 1;
    }

    @Override
    public PostingsEnum postings(PostingsEnum reuse, int flags) {
      throw mergeOnly();
    }

    @Override
    public ImpactsEnum impacts(int flags) {
      throw mergeOnly();
    }

    @Override
    public SeekStatus seekCeil(BytesRef text) {
      throw mergeOnly();
    }

    @Override
    public void seekExact(long ord) {
      throw mergeOnly();
    }

    @Override
    public long ord() {
      throw mergeOnly();
    }
  }

  private static UnsupportedOperationException mergeOnly() {
    return new UnsupportedOperationException("a merge reads terms and frequencies, and no more");
  }
}
