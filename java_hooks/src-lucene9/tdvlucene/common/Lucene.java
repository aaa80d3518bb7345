package tdvlucene.common;

import java.io.IOException;
import java.util.HashMap;
import org.apache.lucene.codecs.CompoundDirectory;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollector;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;

/**
 * The calls that differ between Lucene 9 and 10. Each has a version of this class with the same
 * methods; all other classes are compiled against both.
 */
public final class Lucene {
  private Lucene() {}

  /** Whether documents have term vectors of the field. */
  public static boolean hasTermVectors(FieldInfo info) {
    return info.hasVectors();
  }

  /** The same field without positions, offsets and payloads. */
  public static FieldInfo withoutPositions(FieldInfo info) {
    return new FieldInfo(
        info.name, info.number, info.hasVectors(), info.omitsNorms(), false,
        IndexOptions.DOCS_AND_FREQS, info.getDocValuesType(), info.getDocValuesGen(),
        info.attributes(), info.getPointDimensionCount(), info.getPointIndexDimensionCount(),
        info.getPointNumBytes(), info.getVectorDimension(), info.getVectorEncoding(),
        info.getVectorSimilarityFunction(), info.isSoftDeletesField());
  }

  /** A field with postings and norms like those of another, and nothing else. */
  public static FieldInfo indexed(FieldInfo of, String name, int number, IndexOptions options) {
    boolean positions = options.compareTo(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS) >= 0;
    return new FieldInfo(
        name, number, false, of.omitsNorms(), of.hasPayloads() && positions, options,
        DocValuesType.NONE, -1, new HashMap<>(), 0, 0, 0, 0, VectorEncoding.FLOAT32,
        VectorSimilarityFunction.EUCLIDEAN, false);
  }

  /** Lucene 10 marks the last document of each block by a field; here no index has one. */
  public static void keepParentField(IndexWriterConfig config, FieldInfo info) {}

  /** The files inside a compound segment; to be closed. */
  public static CompoundDirectory openCompound(Directory folder, SegmentInfo segment)
      throws IOException {
    return segment.getCodec().compoundFormat().getCompoundReader(folder, segment, IOContext.DEFAULT);
  }

  /** Collects the best documents and counts all hits: such a search cannot skip any. */
  public static CollectorManager<TopScoreDocCollector, TopDocs> countingAll(int hits) {
    return TopScoreDocCollector.createSharedManager(hits, null, Integer.MAX_VALUE);
  }

  /** The query in a clause. */
  public static Query query(BooleanClause clause) {
    return clause.getQuery();
  }
}
