package tdvlucene.rules;

import java.util.ArrayList;
import java.util.List;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.Job;

/** A job on some fields, each with what decides on its postings. */
public abstract class FieldsJob extends Job {
  protected final List<PlannedField> targets = new ArrayList<>();

  /** Whether the index is a part of a larger one, whose vocabulary the tables have. */
  public boolean isShard;

  /**
   * Adds a field; at least one is needed.
   *
   * @param source the field of the source that its postings are made of
   * @param rule its table has that field's vocabulary, which must be that of the index
   */
  public final void addField(String field, String source, TermRule rule) {
    targets.add(new PlannedField(field, source, rule));
  }

  /**
   * Has norms of the field added last made for a searcher with other parameters of BM25 than those
   * to rank with; see {@link BakedNorms}. The field must have norms.
   *
   * @param average the average length that they are for; 0 to count it
   */
  public final void bake(
      double k1, double b, double searchedK1, double searchedB, double average) {
    PlannedField last = targets.getLast();
    last.held = new BakedNorms.Parameters(k1, b);
    last.searched = new BakedNorms.Parameters(searchedK1, searchedB);
    last.average = average;
  }

  /** The field of this name to be worked on; null where there is none. */
  protected final PlannedField target(String field) {
    return targets.stream().filter(each -> each.field.equals(field)).findFirst().orElse(null);
  }
}
