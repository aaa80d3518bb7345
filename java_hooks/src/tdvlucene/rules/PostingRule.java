package tdvlucene.rules;

/**
 * Decides the new frequency of a posting; called once for each posting, so it must not allocate.
 *
 * <p>All threads share it, so its state never changes. Both passes of the rewriter ask the rule
 * about the same posting and must get the same answer.
 */
public interface PostingRule {
  /** Leaves everything as it is. */
  PostingRule KEEP_ALL = (term, tf, first, length) -> tf;

  /** A position nobody asked for; boosts treat it as the last. */
  int UNKNOWN = -1;

  /**
   * The posting's new frequency, 0 to drop it; not asked for terms that {@link #drops} drops.
   *
   * @param term the term's number in the vocabulary (byte order)
   * @param tf its frequency in the document, at least 1
   * @param first the term's first position in the document; {@link #UNKNOWN} unless
   *     {@link #readsPositions}
   * @param length tokens of the document in this field as its norm tells them: rounded down to
   *     four significant bits where norms are Lucene's bytes, exact where they are exact or the
   *     field has none; in an impact index its largest weight, see {@link #lengthByPostings}; 0
   *     unless {@link #readsLengths}
   */
  int freq(int term, int tf, int first, int length);

  /** Whether all postings of the term are dropped, so that none need be read. */
  default boolean drops(int term) {
    return false;
  }

  /** Whether {@link #freq} gives only {@code tf} or 0: then positions and offsets stay true. */
  default boolean keepsFrequencies() {
    return true;
  }

  /**
   * Whether {@link #freq} reads the document's length, which costs one more pass where the field
   * has no norms.
   */
  default boolean readsLengths() {
    return false;
  }

  /**
   * Whether a document's length is, in an impact index, its largest weight times the root of the
   * number of its postings.
   */
  default boolean lengthByPostings() {
    return false;
  }

  /** Whether {@link #freq} reads first positions, which the field's postings must then have. */
  default boolean readsPositions() {
    return false;
  }
}
