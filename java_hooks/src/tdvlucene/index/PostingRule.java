package tdvlucene.index;

/**
 * Decides the new frequency of a posting; called once a posting, so it must not allocate.
 *
 * <p>Shared by all threads, hence without state that changes. Both passes of the rewriter ask the
 * rule about the same posting and must get the same answer.
 */
public interface PostingRule {
  /** Whether every posting of the term goes, so that none need be read. */
  boolean drops(int term);

  /**
   * The posting's new frequency, 0 to drop it; not asked for terms that {@link #drops} drops.
   *
   * @param term the term's number in the vocabulary (byte order)
   * @param tf its frequency in the document, at least 1
   * @param first the position at which the document has the term first; {@link Lead#UNKNOWN}
   *     unless {@link #readsPositions}
   * @param doc the document's number among the live ones, in index order
   * @param length tokens of the document in this field as its norm tells them: rounded down to
   *     four significant bits where norms are Lucene's bytes, exact where they are exact or the
   *     field has none; 0 unless {@link #readsLengths}
   */
  int freq(int term, int tf, int first, int doc, int length);

  /** Whether {@link #freq} gives only {@code tf} or 0: then positions and offsets stay true. */
  boolean keepsFrequencies();

  /**
   * Whether {@link #freq} reads the document's length, which costs one more pass where the field
   * has no norms.
   */
  boolean readsLengths();

  /** Whether {@link #freq} reads positions, which the field's postings must have then. */
  boolean readsPositions();

  /** Leaves everything as it is. */
  PostingRule KEEP_ALL =
      new PostingRule() {
        @Override
        public boolean drops(int term) {
          return false;
        }

        @Override
        public int freq(int term, int tf, int first, int doc, int length) {
          return tf;
        }

        @Override
        public boolean keepsFrequencies() {
          return true;
        }

        @Override
        public boolean readsLengths() {
          return false;
        }

        @Override
        public boolean readsPositions() {
          return false;
        }
      };
}
