package tdvlucene.rules;

import java.io.IOException;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.Bits;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Index;
import tdvlucene.common.Indexes;
import tdvlucene.common.Lucene;
import tdvlucene.common.NormKind;
import tdvlucene.common.UserException;

/** A field and what decides on its postings and norms. */
public final class PlannedField {
  public final String field;

  /** The field of the source whose postings it is made of: the same, unless it is a new one. */
  public final String source;

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

  public PlannedField(String field, String source, TermTable table, PostingRule rule) {
    this.field = field;
    this.source = source;
    this.table = table;
    this.rule = rule;
  }

  /** Whether the source has no such field. */
  public boolean isNew() {
    return !field.equals(source);
  }

  /** Describes a new field that is made of a source's: it has postings and norms, and no more. */
  public FieldInfo newField(FieldInfo of, int number) {
    IndexOptions options =
        rule.keepsFrequencies() ? of.getIndexOptions() : IndexOptions.DOCS_AND_FREQS;
    return Lucene.indexed(of, field, number, options);
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
              + "norms: leave out search_as");
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
      new PlannedField(field, field, null, PostingRule.KEEP_ALL).readNorms(reader, index, false);
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
    if (isShard && !Indexes.hasField(reader, source)) {
      return;
    }
    FieldInfo info = Indexes.requireFrequencies(reader, index, source);
    norms = NormKind.of(reader, source);
    String where = "field '" + source + "' of " + index;
    if (!norms.whyNotPruned().isEmpty()) {
      throw new UserException(where + ": " + norms.whyNotPruned());
    }
    if (rule.readsPositions() && !Indexes.hasPositions(info)) {
      throw new UserException(
          where + " has no positions, and these TDVs have a first-position boost: learn with "
              + "lead=False"
              + ", learn on this index, or index with -storePositions");
    }
  }

  /** The first position of a vector's current term, if the rule reads it. */
  public int first(TermsEnum vector) throws IOException {
    if (!rule.readsPositions()) {
      return PostingRule.UNKNOWN;
    }
    PostingsEnum occurrences = vector.postings(null, PostingsEnum.POSITIONS);
    occurrences.nextDoc();
    int first = occurrences.nextPosition();
    if (first < 0) {
      throw missing();
    }
    return first;
  }

  /** Refuses a segment whose term vectors lack the positions that the rule reads. */
  public void requirePositions(CodecReader segment, Bits live) throws IOException {
    TermVectorsReader vectors = rule.readsPositions() ? segment.getTermVectorsReader() : null;
    for (int doc = 0; vectors != null && doc < segment.maxDoc(); doc++) {
      Fields fields = live == null || live.get(doc) ? vectors.get(doc) : null;
      Terms terms = fields == null ? null : fields.terms(source);
      if (terms != null && !terms.hasPositions()) {
        throw missing();
      }
      if (terms != null) {
        return; // the first one shows how all are stored
      }
    }
  }

  private UserException missing() {
    return new UserException(
        "the term vectors of field '" + field + "' hold no positions, which these TDVs read: "
            + "learn TDVs that do not (tdv-lucene learn --no-lead)");
  }
}
