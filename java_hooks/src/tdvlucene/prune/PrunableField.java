package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.NormKind;
import tdvlucene.common.UserException;
import tdvlucene.rules.PostingRule;

/** Refuses fields to which a rule cannot be applied. */
public final class PrunableField {
  private PrunableField() {}

  /** Refuses an index and a field to which no rule can be applied. */
  public static void require(Index index, String field) throws IOException {
    Indexes.read(index, reader -> {
      requireNorms(reader, index, field, PostingRule.KEEP_ALL, false);
      ExternalIds.requireAll(reader, index); // judgements, and the prior's extraction, name them
      return null;
    });
  }

  /** Whether a field of an index has norms to write k1 and b into. */
  public static boolean hasNorms(Index index, String field) throws IOException {
    return Indexes.read(index, reader -> {
      FieldInfo info = FieldInfos.getMergedFieldInfos(reader).fieldInfo(field);
      return info != null && info.hasNorms();
    });
  }

  /**
   * The field's kind of norms; refuses a field without what the rule reads, and norms whose new
   * values we could not compute. A shard may be without the field, of which it then has no norms.
   */
  public static NormKind requireNorms(
      IndexReader reader, Index index, String field, PostingRule rule, boolean isShard)
      throws IOException {
    if (isShard && !Indexes.hasField(reader, field)) {
      return NormKind.NONE;
    }
    FieldInfo info = Indexes.requireFrequencies(reader, index, field);
    NormKind kind = NormKind.of(reader, field);
    String reason = kind.whyNotPruned();
    if (!reason.isEmpty()) {
      throw new UserException("field '" + field + "' of " + index + ": " + reason);
    }
    if (rule.readsPositions() && !Indexes.hasPositions(info)) {
      throw new UserException(
          "field '" + field + "' of " + index + " has no positions, and these TDVs have a "
              + "first-position boost: learn with " + UserException.argument("lead", "False")
              + ", learn on this index, or index with -storePositions");
    }
    return kind;
  }
}
