package tdvlucene.verify;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.TermsEnum;
import tdvlucene.common.NormKind;
import tdvlucene.common.TermText;
import tdvlucene.prune.FirstPositions;
import tdvlucene.prune.PostingRule;
import tdvlucene.prune.StoredTdvs;
import tdvlucene.prune.TermTable;
import tdvlucene.prune.WeightedLengths;

/** A field to be compared, and what pruning should have made of it. */
final class ComparedField {
  /** Threads add up weighted tokens in any order, which changes the last bits of their sum. */
  private static final double UNIT_TOLERANCE = 1e-9;

  final String field;

  /** Null for a field that was not pruned: all terms are to stay. */
  final TermTable table;

  final PostingRule rule;
  NormKind norms;

  /** Length of each live document for the rule; null unless it reads them. */
  int[] oldLengths;

  /** Counts new lengths; null to count tokens. */
  WeightedLengths weighted;

  ComparedField(String field, TermTable table, PostingRule rule) {
    this.field = field;
    this.table = table;
    this.rule = rule;
  }

  /** The one with a name; null when there is none. */
  static ComparedField find(List<ComparedField> fields, String name) {
    for (ComparedField each : fields) {
      if (each.field.equals(name)) {
        return each;
      }
    }
    return null;
  }

  /** A posting's new frequency, as the rewriter asks for it. */
  int freq(int term, int tf, int first, int number) {
    return rule.freq(term, tf, first, number, oldLengths == null ? 0 : oldLengths[number]);
  }

  /**
   * New frequency of a vector's current term; 0 also for terms without postings, which the
   * comparison of postings reports.
   */
  int freq(TermsEnum vector, int number) throws IOException {
    int term = table.find(vector.term());
    if (term < 0 || rule.drops(term)) {
      return 0;
    }
    int first = FirstPositions.of(vector, field, rule);
    return freq(term, Math.toIntExact(vector.totalTermFreq()), first, number);
  }

  /** Compares the TDVs the index keeps for the search, and makes lengths of weighted parts. */
  void compareTdvs(ComparedIndex pruned, long tokens, int[] lengths) throws IOException {
    StoredTdvs tdvs = StoredTdvs.read(pruned.reader, field);
    double unit = weighted.unit(tokens);
    if (Math.abs(tdvs.lengthUnit() / unit - 1) > UNIT_TOLERANCE) {
      throw new Difference("length of one weighted token", unit, tdvs.lengthUnit());
    }
    weighted.finish(lengths, tdvs.lengthUnit());
    TermTable.Cursor cursor = table.cursor();
    for (int term = 0; term < table.size(); term++) {
      if (table.tdv()[term] > 0) {
        cursor.seek(term);
        float found = tdvs.of(cursor.term());
        if (found != table.tdv()[term]) {
          throw new Difference("TDV kept in the index", table.tdv()[term], found)
              .at("field", field)
              .at("term", TermText.show(cursor.term()));
        }
      }
    }
  }
}
