package tdvlucene.common;

import java.io.IOException;
import java.util.Locale;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.PostingsEnum;

/**
 * The meaning of a field's frequencies, inferred from the index alone.
 *
 * <p>The mean frequency, which Lucene knows, tells counts of words from the rest. Postings are read
 * only where it is too large for words.
 */
public enum FrequencyKind {
  /** How often a term occurs. */
  COUNTS,
  /** Weights of an impact index, as norms of 1 say. */
  WEIGHTS,
  /**
   * Weights, to judge by their size, in an index that was made as if they were counts: Anserini's
   * {@code JsonVectorCollection} without {@code -impact}, or weights for BM25 as DeepCT's. Told by
   * a mean frequency of at least 8 and by few frequencies of 1: in texts, however long, a third or
   * more of a document's terms occur once. What could be taken for it: texts that all repeat each
   * of their words, so nobody is refused anything because of it.
   */
  LIKELY_WEIGHTS,
  /**
   * Floating-point weights: Lucene's {@code FeatureField}, which is OpenSearch's and
   * Elasticsearch's {@code rank_feature(s)} and {@code sparse_vector}. A frequency is the upper
   * bits of a positive float, {@code floatToIntBits(weight) >> 15}: 32,512 for 1, from 30,791 to
   * 35,060 for .01 to 1,000.
   *
   * <p>Told by three things: there are no norms and no positions; every frequency is such bits (256
   * to 65,279); and their mean is between those of 2^-64 and 2^64. No text has only words that
   * occur 256 times in a document. Anserini's impact indexes have norms, whatever their weights.
   * It may be confused with another program's whole weights in a field without norms, if none
   * is below 256 and their mean above 16,000. What is missed: features that are below 5e-20, or
   * above 2e19, in the mean.
   */
  FEATURES;

  private static final int LEAST_FEATURE = featureBits(Float.MIN_NORMAL);
  private static final int LARGEST_FEATURE = featureBits(Float.MAX_VALUE);
  private static final int LEAST_MEAN_FEATURE = featureBits(0x1p-64f);
  private static final int LARGEST_MEAN_FEATURE = featureBits(0x1p64f);
  private static final int LEAST_MEAN_WEIGHT = 8;
  private static final double MOST_ONES = 0.1;
  private static final int SAMPLED_POSTINGS = 1 << 20;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** Why nothing can be made of {@link #FEATURES}. */
  static final String WHY_NO_FEATURES =
      "it holds features (Lucene's FeatureField: rank_features or sparse vectors of OpenSearch and "
          + "Elasticsearch). Their frequencies are the bits of floating-point weights, which can be "
          + "neither counted nor scaled: write the weights as whole numbers, and index them with "
          + "Anserini's JsonVectorCollection and -impact";

  /** Tells the kind of a field's frequencies; without any, counts. */
  public static FrequencyKind of(IndexReader reader, String field) throws IOException {
    FieldInfo info = FieldInfos.getMergedFieldInfos(reader).fieldInfo(field);
    long postings = info == null ? 0 : reader.getSumDocFreq(field);
    if (postings <= 0 || !Index.hasFrequencies(info)) {
      return COUNTS;
    }
    if (areFeatures(reader, info)) {
      return FEATURES;
    }
    if (NormKind.of(reader, field) == NormKind.IMPACT) {
      return WEIGHTS;
    }
    double mean = mean(reader, field);
    boolean isScaled = Index.recorded(reader, field, "tf") != null; // by us, who know of what
    boolean isHeavy = mean >= LEAST_MEAN_WEIGHT && !isScaled;
    return isHeavy && shareOfOnes(reader, field, postings) <= MOST_ONES ? LIKELY_WEIGHTS : COUNTS;
  }

  /** Whether a field's are {@link #FEATURES}. Reads no norms. */
  static boolean areFeatures(IndexReader reader, FieldInfo info) throws IOException {
    if (info.hasNorms() || info.getIndexOptions() != IndexOptions.DOCS_AND_FREQS) {
      return false;
    }
    double mean = mean(reader, info.name);
    return mean >= LEAST_MEAN_FEATURE
        && mean <= LARGEST_MEAN_FEATURE
        && areAllFeatures(reader, info.name);
  }

  private static double mean(IndexReader reader, String field) throws IOException {
    return (double) reader.getSumTotalTermFreq(field) / Math.max(1, reader.getSumDocFreq(field));
  }

  private static int featureBits(float weight) {
    return Float.floatToIntBits(weight) >> 15;
  }

  private static boolean areAllFeatures(IndexReader reader, String field) throws IOException {
    FieldPostings postings = new FieldPostings(reader, field);
    while (postings.nextTerm() != null) {
      postings.readPostings(PostingsEnum.FREQS);
      while (postings.next() != FieldPostings.END) {
        if (postings.freq() < LEAST_FEATURE || postings.freq() > LARGEST_FEATURE) {
          return false;
        }
      }
    }
    return true;
  }

  /** Samples every so many terms, so that about a million postings are read. */
  private static double shareOfOnes(IndexReader reader, String field, long postings)
      throws IOException {
    long every = 1 + postings / SAMPLED_POSTINGS;
    FieldPostings read = new FieldPostings(reader, field);
    long ones = 0;
    long all = 0;
    for (long term = 0; read.nextTerm() != null; term++) {
      if (term % every == 0) {
        for (read.readPostings(PostingsEnum.FREQS); read.next() != FieldPostings.END; all++) {
          ones += read.freq() == 1 ? 1 : 0;
        }
      }
    }
    return (double) ones / all;
  }
}
