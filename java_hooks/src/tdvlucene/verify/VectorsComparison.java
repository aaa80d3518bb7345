package tdvlucene.verify;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.BytesRefHash;
import tdvlucene.common.TermText;

/** Compares term vectors with what a rule makes of the source's in the pruned fields. */
record VectorsComparison(Map<String, ComparedField> targets) {
  /** Compares the documents with a number, at which the cursors stand. */
  void compare(int number, DocumentCursor source, DocumentCursor pruned) throws IOException {
    Fields old = source.vectors();
    Fields found = pruned.vectors();
    Set<String> names = new TreeSet<>();
    addNames(old, names);
    addNames(found, names);
    for (String name : names) {
      Terms expected = old == null ? null : old.terms(name);
      Terms present = found == null ? null : found.terms(name);
      try {
        compare(number, targets.get(name), expected, present);
      } catch (Difference e) {
        throw e.at("field", name);
      }
    }
  }

  private static void addNames(Fields fields, Set<String> names) {
    if (fields != null) {
      fields.forEach(names::add);
    }
  }

  private void compare(int number, ComparedField target, Terms expected, Terms present)
      throws IOException {
    TermsEnum old = expected == null ? TermsEnum.EMPTY : expected.iterator();
    TermsEnum found = present == null ? TermsEnum.EMPTY : present.iterator();
    BytesRefHash known = target == null ? null : target.table.terms();
    boolean whole = target == null || target.rule.keepsFrequencies();
    if (expected != null && present != null) {
      Difference.require("has positions in the vector", whole && expected.hasPositions(),
          present.hasPositions());
      Difference.require("has offsets in the vector", whole && expected.hasOffsets(),
          present.hasOffsets());
    }
    boolean occurrences =
        whole && expected != null && (expected.hasPositions() || expected.hasOffsets());
    for (BytesRef term = old.next(); term != null; term = old.next()) {
      long freq = target == null ? old.totalTermFreq() : target.freq(known, old, number);
      if (freq > 0) {
        BytesRef next = found.next();
        if (!term.equals(next)) {
          throw new Difference("term of the vector", TermText.show(term), show(next));
        }
        compareTerm(freq, old, found, occurrences);
      }
    }
    BytesRef extra = found.next();
    if (extra != null) {
      throw new Difference("term of the vector", "no more", TermText.show(extra));
    }
  }

  private static String show(BytesRef term) {
    return term == null ? "no more" : TermText.show(term);
  }

  private static void compareTerm(
      long freq, TermsEnum old, TermsEnum found, boolean occurrences) throws IOException {
    try {
      Difference.require("frequency in the vector", freq, found.totalTermFreq());
      if (occurrences) {
        PostingsEnum a = old.postings(null, PostingsEnum.ALL);
        PostingsEnum b = found.postings(null, PostingsEnum.ALL);
        a.nextDoc();
        b.nextDoc();
        for (int i = 0; i < freq; i++) {
          Difference.require("position in the vector", a.nextPosition(), b.nextPosition());
          Difference.require("offset in the vector", a.startOffset(), b.startOffset());
          Difference.require("offset in the vector", a.endOffset(), b.endOffset());
          if (!Objects.equals(a.getPayload(), b.getPayload())) {
            throw new Difference("payload in the vector", a.getPayload(), b.getPayload());
          }
        }
      }
    } catch (Difference e) {
      throw e.at("term", TermText.show(old.term()));
    }
  }
}
