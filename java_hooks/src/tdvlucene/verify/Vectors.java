package tdvlucene.verify;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.TermText;

/** Compares term vectors with what a rule makes of the source's in the pruned fields. */
record Vectors(Map<String, ComparedField> targets) {
  /** Compares the documents with a number, at which both sides stand. */
  void compare(int number, Documents source, Documents pruned) throws IOException {
    Fields old = source.vectors();
    Fields found = pruned.vectors();
    Set<String> names = new TreeSet<>();
    for (Fields each : new Fields[] {old, found}) {
      if (each != null) {
        each.forEach(names::add);
      }
    }
    for (String name : names) {
      Terms expected = old == null ? null : old.terms(name);
      Terms present = found == null ? null : found.terms(name);
      Difference.in("field", name, () -> compare(number, targets.get(name), expected, present));
    }
  }

  private static void compare(int number, ComparedField target, Terms expected, Terms present)
      throws IOException {
    TermsEnum old = expected == null ? TermsEnum.EMPTY : expected.iterator();
    TermsEnum found = present == null ? TermsEnum.EMPTY : present.iterator();
    boolean whole = target == null || target.rule().keepsFrequencies();
    if (expected != null && present != null) {
      Difference.require("has positions in the vector", whole && expected.hasPositions(),
          present.hasPositions());
      Difference.require("has offsets in the vector", whole && expected.hasOffsets(),
          present.hasOffsets());
    }
    boolean occurrences =
        whole && expected != null && (expected.hasPositions() || expected.hasOffsets());
    for (BytesRef term = old.next(); term != null; term = old.next()) {
      long freq = target == null ? old.totalTermFreq() : newFreq(target, old, number);
      if (freq > 0) {
        Difference.require("term of the vector", show(term), show(found.next()));
        Difference.in("term", TermText.show(term), () -> {
          Difference.require("frequency in the vector", freq, found.totalTermFreq());
          if (occurrences) {
            PostingsEnum a = old.postings(null, PostingsEnum.ALL);
            PostingsEnum b = found.postings(null, PostingsEnum.ALL);
            a.nextDoc();
            b.nextDoc();
            Postings.compareOccurrences(a, b, (int) freq, null, " in the vector");
          }
        });
      }
    }
    Difference.require("term of the vector", show(null), show(found.next()));
  }

  /**
   * The new frequency of a vector's current term; 0 also for terms without postings, which the
   * comparison of postings reports.
   */
  private static long newFreq(ComparedField target, TermsEnum vector, int number)
      throws IOException {
    int term = target.plan().table.terms().find(vector.term());
    if (term < 0 || target.rule().drops(term)) {
      return 0;
    }
    int first = target.plan().first(vector);
    return target.freq(term, Math.toIntExact(vector.totalTermFreq()), first, number);
  }

  private static String show(BytesRef term) {
    return term == null ? "no more" : TermText.show(term);
  }
}
