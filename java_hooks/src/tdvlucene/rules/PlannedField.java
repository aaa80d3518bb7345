package tdvlucene.rules;

import java.io.IOException;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import tdvlucene.common.BakedNorms;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Index;
import tdvlucene.common.Lucene;
import tdvlucene.common.NormKind;
import tdvlucene.common.UserException;

/** A field and what decides on its postings and norms. */
public final class PlannedField {
  public final String field;

  /** The field of the source whose postings it is made of: the same, unless it is a new one. */
  public final String source;

  public final TermRule rule;

  /** The source's norms; known once they are looked at. */
  public NormKind norms;

  /** Null unless norms hold k1 and b for a searcher with others. */
  BakedNorms.Parameters held;

  BakedNorms.Parameters searched;

  /** The average length that such norms are made for; 0 where it is to be counted. */
  public double average;

  /** Null unless norms hold k1 and b, for an average length that is known. */
  private BakedNorms baked;

  public PlannedField(String field, String source, TermRule rule) {
    this.field = field;
    this.source = source;
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

  /** Whether new norms depend on how many tokens documents had: see {@link NormKind#follow}. */
  public boolean readsTokens() {
    return held == null && (norms == NormKind.DEFAULT || norms == NormKind.OVERLAPS);
  }

  /** How often postings are read to compute lengths: those after pruning, and what these need. */
  public int passes() {
    boolean ofOld = rule.readsLengths() && (norms == NormKind.IMPACT || norms == NormKind.NONE);
    return 1 + (readsTokens() ? 1 : 0) + (ofOld ? 1 : 0);
  }

  /**
   * The norm of a document with a new length.
   *
   * @param before its tokens before; null unless they are read
   */
  public long norm(long old, int[] before, int doc, int length) {
    if (baked != null) {
      return baked.encode(length);
    }
    return before == null ? norms.encode(length) : norms.follow(old, before[doc], length);
  }

  /**
   * Refuses an index whose field no rule can be applied to, or whose documents have no names.
   *
   * @param lead whether the rule reads first positions where there are any
   */
  public static void require(Index index, String field, boolean lead) throws IOException {
    index.read(reader -> {
      new PlannedField(field, field, TermRule.KEEP_ALL).readNorms(reader, index, false);
      ExternalIds.requireAll(reader, index); // judgements, and the prior's extraction, name them
      if (!Index.hasLiveTerm(reader, field)) {
        throw new UserException("field '" + field + "' of " + index + ": " + Index.NO_TERM);
      }
      FieldInfo info = FieldInfos.getMergedFieldInfos(reader).fieldInfo(field);
      if (lead && Index.hasPositions(info) && Lucene.hasTermVectors(info)) {
        for (LeafReaderContext leaf : reader.leaves()) {
          requirePositions((CodecReader) leaf.reader(), field);
        }
      }
      return null;
    });
  }

  /**
   * Finds out the kind of norms. Refuses a field without what the rule reads, and norms whose new
   * values we could not compute. A shard may lack the field, of which it then has no norms.
   */
  public void readNorms(IndexReader reader, Index index, boolean isShard) throws IOException {
    norms = NormKind.NONE;
    if (isShard && !Index.hasField(reader, source)) {
      return;
    }
    FieldInfo info = Index.requireFrequencies(reader, index, source);
    norms = NormKind.of(reader, source);
    String where = "field '" + source + "' of " + index;
    if (!norms.whyNotPruned().isEmpty()) {
      throw new UserException(where + ": " + norms.whyNotPruned());
    }
    if (rule.readsPositions() && !Index.hasPositions(info)) {
      throw new UserException(
          where + " has no positions, and these TDVs have a first-position boost: learn with "
              + "lead=False"
              + ", learn on this index, or index with -storePositions");
    }
  }

  /** The first position of a vector's current term, if the rule reads it. */
  public int first(TermsEnum vector) throws IOException {
    if (!rule.readsPositions()) {
      return TermRule.UNKNOWN;
    }
    PostingsEnum occurrences = vector.postings(null, PostingsEnum.POSITIONS);
    occurrences.nextDoc();
    int first = occurrences.nextPosition();
    if (first < 0) {
      throw missing(field);
    }
    return first;
  }

  /** Refuses a segment whose term vectors lack the positions that the rule reads. */
  public void requirePositions(CodecReader segment) throws IOException {
    if (rule.readsPositions()) {
      requirePositions(segment, source);
    }
  }

  private static void requirePositions(CodecReader segment, String field) throws IOException {
    TermVectorsReader vectors = segment.getTermVectorsReader();
    DocumentNumbers live = new DocumentNumbers(segment);
    for (int number = 0; vectors != null && number < live.size(); number++) {
      Fields fields = vectors.get(live.doc(number));
      Terms terms = fields == null ? null : fields.terms(field);
      if (terms != null && !terms.hasPositions()) {
        throw missing(field);
      }
      if (terms != null) {
        return; // the first one shows how all are stored
      }
    }
  }

  private static UserException missing(String field) {
    return new UserException(
        "the term vectors of field '" + field + "' hold no positions, which a first-position boost "
            + "reads: learn without one (tdv-lucene learn --no-lead, also with --no-judgements), or "
            + "index with positions in term vectors, or without term vectors");
  }
}
