package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.codecs.StoredFieldsReader;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.document.DocumentStoredFieldVisitor;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Column;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.IdField;
import tdvlucene.common.StoredText;
import tdvlucene.common.TermText;

/**
 * Reads the live documents of an index in order of their numbers, over all segments, and compares
 * what they have; for one thread.
 */
final class Documents {
  private final Side side;

  /** The fields whose doc values are read. */
  private final List<String> names = new ArrayList<>();

  /** Their columns in the segment, in the same order. */
  private final List<Column> columns = new ArrayList<>();

  private LeafReaderContext leaf;
  private StoredFieldsReader stored;
  private TermVectorsReader vectors;
  private final ExternalIds ids;
  private int doc;

  /**
   * @param ids what names the documents
   * @param fields the columns to read: both sides of a comparison are given the same
   */
  Documents(Side side, IdField ids, FieldInfos fields) {
    this.side = side;
    this.ids = new ExternalIds(ids);
    for (FieldInfo info : fields) {
      if (info.getDocValuesType() != DocValuesType.NONE) {
        names.add(info.name);
      }
    }
  }

  /** Compares ids, stored fields and doc values of the documents with a number. */
  static void compare(int number, Documents old, Documents found) throws IOException {
    Difference.require("id of document number " + number, old.id(), found.id());
    requireSame("stored field", old.stored(), found.stored());
    for (int i = 0; i < old.columns.size(); i++) {
      List<Object> expected = old.columns.get(i).of(old.doc);
      List<Object> present = found.columns.get(i).of(found.doc);
      Difference.in(
          "field", old.names.get(i), () -> requireSame("doc values", expected, present));
    }
  }

  private static void requireSame(String what, List<Object> expected, List<Object> present) {
    for (int i = 0; i < Math.max(expected.size(), present.size()); i++) {
      Object old = i < expected.size() ? expected.get(i) : "none";
      Object found = i < present.size() ? present.get(i) : "none";
      if (!old.equals(found)) {
        throw new Difference(what, old, found);
      }
    }
  }

  /** Moves to the live document with a number. */
  void move(int number) throws IOException {
    int global = side.live.doc(number);
    if (leaf == null || global >= leaf.docBase + leaf.reader().maxDoc()) {
      leaf = side.leafOf(global);
      CodecReader reader = (CodecReader) leaf.reader();
      // For merging: documents compressed together are decompressed once, not once each.
      stored = reader.getFieldsReader().getMergeInstance();
      TermVectorsReader all = reader.getTermVectorsReader();
      vectors = all == null ? null : all.getMergeInstance();
      columns.clear();
      for (String name : names) {
        columns.add(Column.of(reader, name));
      }
    }
    doc = global - leaf.docBase;
  }

  String id() throws IOException {
    return ids.of(leaf.docBase + doc).utf8ToString();
  }

  /** Fields in their order: each a name and a value, which equals another of the same kind only. */
  private List<Object> stored() throws IOException {
    DocumentStoredFieldVisitor visitor = new DocumentStoredFieldVisitor();
    stored.document(doc, visitor);
    List<Object> found = new ArrayList<>();
    for (IndexableField field : visitor.getDocument()) {
      found.add(Map.entry(field.name(), StoredText.value(field)));
    }
    return found;
  }

  /**
   * Compares term vectors of the documents with a number with what rules make of the source's.
   *
   * @param targets the pruned fields
   */
  static void compareVectors(
      int number, Map<String, Postings.ComparedField> targets, Documents source, Documents pruned)
      throws IOException {
    Fields old = source.vectors == null ? null : source.vectors.get(source.doc);
    Fields found = pruned.vectors == null ? null : pruned.vectors.get(pruned.doc);
    Set<String> names = new TreeSet<>();
    for (Fields each : new Fields[] {old, found}) {
      if (each != null) {
        each.forEach(names::add);
      }
    }
    for (String name : names) {
      Terms expected = old == null ? null : old.terms(name);
      Terms present = found == null ? null : found.terms(name);
      Difference.in(
          "field", name, () -> compareVector(number, targets.get(name), expected, present));
    }
  }

  private static void compareVector(
      int number, Postings.ComparedField target, Terms expected, Terms present) throws IOException {
    TermsEnum old = expected == null ? TermsEnum.EMPTY : expected.iterator();
    TermsEnum found = present == null ? TermsEnum.EMPTY : present.iterator();
    boolean whole = target == null || target.plan().rule.keepsFrequencies();
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
  private static long newFreq(Postings.ComparedField target, TermsEnum vector, int number)
      throws IOException {
    int term = target.plan().rule.table().terms().find(vector.term());
    if (term < 0 || target.plan().rule.drops(term)) {
      return 0;
    }
    int first = target.plan().first(vector);
    return target.freq(term, Math.toIntExact(vector.totalTermFreq()), first, number);
  }

  private static String show(BytesRef term) {
    return term == null ? "no more" : TermText.show(term);
  }
}
