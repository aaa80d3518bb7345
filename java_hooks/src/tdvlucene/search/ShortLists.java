package tdvlucene.search;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity.SimScorer;
import org.apache.lucene.util.Bits;

/**
 * All postings of some terms, read at once, and searched in windows of documents.
 *
 * <p>Lucene goes from document to document by a heap, and skips what block maxima rule out. Where
 * lists are short, that skips little, and a step costs several times as much as one here.
 */
final class ShortLists {
  private static final int WINDOW = 1 << 12;
  private static final float NONE = -1;

  private final ScoredTerms terms;
  private final int[] docs;
  private final int[] freqs;

  /** Where the postings of a term in a segment begin: by segment, then term. */
  private final int[] starts;

  /** Sums of scores in a window, {@link #NONE} outside of it, and which of its documents have one. */
  private final float[] sums = new float[WINDOW];
  private final char[] met = new char[WINDOW + 1];

  ShortLists(ScoredTerms terms) throws IOException {
    this.terms = terms;
    int many = terms.scored.size();
    docs = new int[Math.toIntExact(terms.postings)];
    freqs = new int[docs.length];
    starts = new int[terms.leaves.size() * many + 1];
    PostingsEnum used = null;
    for (int list = 0, at = 0; list + 1 < starts.length; list++, starts[list] = at) {
      PostingsEnum all = terms.postings(terms.scored.get(list % many), list / many, used);
      if (all != null) {
        used = all;
        for (int doc = all.nextDoc(); doc != PostingsEnum.NO_MORE_DOCS; doc = all.nextDoc()) {
          docs[at] = doc;
          freqs[at++] = all.freq();
        }
      }
    }
    Arrays.fill(sums, NONE);
  }

  /** The best documents, and what is near them. */
  ScoreDoc[] search(NearBest near) throws IOException {
    NearBest.Collected best = near.newCollector();
    for (int leaf = 0; leaf < terms.leaves.size(); leaf++) {
      search(leaf, best);
    }
    return near.reduce(List.of(best));
  }

  private void search(int leaf, NearBest.Collected best) throws IOException {
    best.getLeafCollector(terms.leaves.get(leaf));
    Bits live = terms.leaves.get(leaf).reader().getLiveDocs();
    int first = leaf * terms.scored.size();
    int[] at = Arrays.copyOfRange(starts, first, first + terms.scored.size());
    NumericDocValues[] norms = new NumericDocValues[at.length];
    for (int term = 0; term < norms.length; term++) {
      norms[term] = terms.norms(leaf);
    }
    for (int next = next(first, at); next < PostingsEnum.NO_MORE_DOCS; next = next(first, at)) {
      int from = next - next % WINDOW;
      int count = 0;
      for (int term = 0; term < at.length; term++) {
        int to = end(at[term], starts[first + term + 1], from);
        count = add(at[term], to, from, terms.scored.get(term).scorer(), norms[term], count);
        at[term] = to;
      }
      collect(from, count, live, best);
    }
  }

  /** The next document of any list. */
  private int next(int first, int[] at) {
    int next = PostingsEnum.NO_MORE_DOCS;
    for (int term = 0; term < at.length; term++) {
      if (at[term] < starts[first + term + 1]) {
        next = Math.min(next, docs[at[term]]);
      }
    }
    return next;
  }

  /** Where a list's postings in a window end. */
  private int end(int at, int to, int from) {
    int end = at;
    while (end < to && docs[end] - from < WINDOW) {
      end++;
    }
    return end;
  }

  private int add(int at, int to, int from, SimScorer scorer, NumericDocValues norms, int before)
      throws IOException {
    int count = before;
    for (int i = at; i < to; i++) {
      int place = docs[i] - from;
      long norm = norms != null && norms.advanceExact(docs[i]) ? norms.longValue() : 1;
      boolean isNew = sums[place] < 0;
      met[count] = (char) place;
      count += isNew ? 1 : 0;
      sums[place] = (isNew ? 0 : sums[place]) + scorer.score(freqs[i], norm);
    }
    return count;
  }

  private void collect(int from, int count, Bits live, NearBest.Collected best) {
    for (int i = 0; i < count; i++) {
      int place = met[i];
      float score = sums[place];
      sums[place] = NONE;
      if (live == null || live.get(from + place)) {
        best.add(from + place, score);
      }
    }
  }
}
