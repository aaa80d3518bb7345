package tdvlucene.rules;

import java.io.IOException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.NormKind;
import tdvlucene.common.UserException;

/** A field and what decides on its postings and norms. */
public final class PlannedField {
  public final String field;

  /** Null where all terms stay. */
  public final TermTable table;

  public final PostingRule rule;

  /** The source's norms; known once they are looked at. */
  public NormKind norms;

  /** Null unless norms hold k1 and b for a searcher with others. */
  private BakedNorms.Parameters held;

  private BakedNorms.Parameters searched;

  /** The average length that such norms are made for; 0 where it is to be counted. */
  public double average;

  /** Null unless norms hold k1 and b, for an average length that is known. */
  private BakedNorms baked;

  public PlannedField(String field, TermTable table, PostingRule rule) {
    this.field = field;
    this.table = table;
    this.rule = rule;
  }

  /** Has norms hold k1 and b for a searcher with others; see {@link BakedNorms}. */
  public void bake(
      BakedNorms.Parameters held, BakedNorms.Parameters searched, double average) {
    this.held = held;
    this.searched = searched;
    this.average = average;
  }

  /** Whether norms are to hold k1 and b. */
  public boolean isBaked() {
    return held != null;
  }

  /** The norms that hold k1 and b, for an average length, from now on. */
  public BakedNorms bakeFor(double length) {
    if (norms == NormKind.IMPACT) {
      throw new UserException(
          "field '" + field + "' is of an impact index, which has no k1 and b to write into its "
              + "norms: leave out " + UserException.argument("search_as"));
    }
    average = length;
    baked = new BakedNorms(norms, held, searched, length);
    return baked;
  }

  /** The norm of a document with a new length. */
  public long norm(int length) {
    return baked == null ? norms.encode(length) : baked.encode(length);
  }

  /** Refuses an index whose field no rule can be applied to, or whose documents have no names. */
  public static void require(Index index, String field) throws IOException {
    Indexes.read(index, reader -> {
      new PlannedField(field, null, PostingRule.KEEP_ALL).readNorms(reader, index, false);
      ExternalIds.requireAll(reader, index); // judgements, and the prior's extraction, name them
      return null;
    });
  }

  /**
   * Finds out the kind of norms. Refuses a field without what the rule reads, and norms whose new
   * values we could not compute. A shard may lack the field, of which it then has no norms.
   */
  public void readNorms(IndexReader reader, Index index, boolean isShard) throws IOException {
    norms = NormKind.NONE;
    if (isShard && !Indexes.hasField(reader, field)) {
      return;
    }
    FieldInfo info = Indexes.requireFrequencies(reader, index, field);
    norms = NormKind.of(reader, field);
    String where = "field '" + field + "' of " + index;
    if (!norms.whyNotPruned().isEmpty()) {
      throw new UserException(where + ": " + norms.whyNotPruned());
    }
    if (rule.readsPositions() && !Indexes.hasPositions(info)) {
      throw new UserException(
          where + " has no positions, and these TDVs have a first-position boost: learn with "
              + UserException.argument("lead", "False")
              + ", learn on this index, or index with -storePositions");
    }
  }
}
