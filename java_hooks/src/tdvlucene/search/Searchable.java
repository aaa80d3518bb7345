package tdvlucene.search;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.function.LongConsumer;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Failures;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.UserException;

/** Refuses an index that lacks what a search needs; all searches here ask it first. */
public final class Searchable {
  private Searchable() {}

  /**
   * Refuses an index that cannot be ranked, or whose hits could not be named.
   *
   * @param total told the bytes that are read in search of damage
   * @param progress told those behind us; may throw to stop
   */
  static void require(
      IndexReader reader, Index index, String field, LongConsumer total,
      LongConsumer progress)
      throws IOException {
    Index.requireFrequencies(reader, index, field);
    Failures.refuseDamageSearched(index, total, progress);
    ExternalIds.requireAll(reader, index);
  }

  /** As above, of an index that Pyserini will search, perhaps in other fields. */
  public static void require(Index index, String field) throws IOException {
    index.read(reader -> {
      requireAnserinisIds(reader, index);
      if (Index.hasField(reader, field)) {
        require(reader, index, field, bytes -> {}, read -> {});
      }
      return null;
    });
  }

  /** Refuses an index of which Anserini's and Pyserini's searchers could not name the hits. */
  static void requireAnserinisIds(IndexReader reader, Index index) throws IOException {
    IdField names = IdField.of(reader, index);
    if (!names.isId() && reader.maxDoc() > 0) {
      throw new UserException(
          index + " names its documents by " + names.show() + ", and Anserini and Pyserini only by "
              + "the stored field 'id': search it with tdv-lucene, without feedback, or with "
              + "Lucene");
    }
  }

  /**
   * Does what {@code set_bm25} of Anserini's {@code SimpleSearcher} does, with any similarity: it
   * has no setter, and the fields it sets are protected.
   *
   * @param tiers null to search one field
   */
  public static void setSimilarity(
      Index index, Object simpleSearcher, Similarity similarity, Tiers tiers)
      throws IOException, ReflectiveOperationException {
    IndexReader reader = (IndexReader) field(simpleSearcher, "reader").get(simpleSearcher);
    IndexSearcher searcher =
        tiers == null
            ? ImpactSimilarity.searcher(reader, similarity)
            : Ranking.asking(new Ranking(reader, index, similarity), tiers);
    Similarity reading = NormReading.of(reader, index, similarity);
    searcher.setSimilarity(reading);
    field(simpleSearcher, "similarity").set(simpleSearcher, reading);
    field(simpleSearcher, "searcher").set(simpleSearcher, searcher);
  }

  private static Field field(Object object, String name) throws NoSuchFieldException {
    Field field = object.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
