package tdvlucene.rules;

import java.io.IOException;
import org.apache.lucene.codecs.TermVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.Fields;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.util.Bits;
import tdvlucene.common.UserException;

/** Reads the first position of a term in a document, from postings or from term vectors. */
public final class FirstPositions {
  /** A position nobody asked for; boosts treat it as the last. */
  public static final int UNKNOWN = -1;

  private FirstPositions() {}

  /** In the current document; moves {@code postings} there if it is wanted. */
  public static int of(PostingsEnum postings, boolean wanted) throws IOException {
    return wanted ? postings.nextPosition() : UNKNOWN;
  }

  /** Of a vector's current term, if the rule reads first positions. */
  public static int of(TermsEnum vector, String field, PostingRule rule) throws IOException {
    if (!rule.readsPositions()) {
      return UNKNOWN;
    }
    PostingsEnum occurrences = vector.postings(null, PostingsEnum.POSITIONS);
    occurrences.nextDoc();
    int first = occurrences.nextPosition();
    if (first < 0) {
      throw missing(field);
    }
    return first;
  }

  /** Refuses a segment whose term vectors have no positions; looks at the first vector. */
  public static void requireInVectors(CodecReader segment, Bits live, String field)
      throws IOException {
    TermVectorsReader vectors = segment.getTermVectorsReader();
    for (int doc = 0; vectors != null && doc < segment.maxDoc(); doc++) {
      Fields fields = live == null || live.get(doc) ? vectors.get(doc) : null;
      Terms terms = fields == null ? null : fields.terms(field);
      if (terms != null && !terms.hasPositions()) {
        throw missing(field);
      }
      if (terms != null) {
        return;
      }
    }
  }

  private static UserException missing(String field) {
    return new UserException(
        "the term vectors of field '" + field + "' hold no positions, which these TDVs read: "
            + "learn TDVs that do not (tdv-lucene learn --no-lead)");
  }
}
