package tdvlucene.search;

import java.lang.reflect.Field;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.similarities.Similarity;

/** Gives Anserini's {@code SimpleSearcher} a similarity it has no setter for. */
public final class SearcherHooks {
  private SearcherHooks() {}

  /** Does what {@code set_bm25} does, with any similarity. The fields it sets are protected. */
  public static void setSimilarity(Object simpleSearcher, Similarity similarity)
      throws ReflectiveOperationException {
    IndexReader reader = (IndexReader) field(simpleSearcher, "reader").get(simpleSearcher);
    IndexSearcher searcher = ImpactSimilarity.searcher(reader, similarity);
    searcher.setSimilarity(similarity);
    field(simpleSearcher, "similarity").set(simpleSearcher, similarity);
    field(simpleSearcher, "searcher").set(simpleSearcher, searcher);
  }

  private static Field field(Object object, String name) throws NoSuchFieldException {
    Field field = object.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
