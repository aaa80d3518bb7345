package tdvlucene.search;

import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import tdvlucene.common.Lucene;
import tdvlucene.common.Segments;
import tdvlucene.common.UserException;

/**
 * Anserini's pseudo-relevance feedback with the settings that Pyserini's {@code set_rm3()} and
 * {@code set_rocchio()} give it, on any similarity.
 *
 * <p>Hits and scores are {@code SimpleSearcher}'s own, so its field is searched: {@code contents}.
 * Anserini's classes are newer than the Java these hooks are compiled for, hence reflection.
 */
final class Feedback implements Closeable {
  static final String FIELD = "contents";

  private static final String SEARCHER = "io.anserini.search.SimpleSearcher";

  private final Object searcher;
  private final Method search;

  private Feedback(Object searcher) throws NoSuchMethodException {
    this.searcher = searcher;
    search = searcher.getClass().getMethod("search", String.class, int.class);
  }

  /**
   * @param index not in shards
   * @param method {@code rm3} or {@code rocchio}
   */
  static Feedback open(
      String index, DirectoryReader reader, Similarity similarity, Queries queries, String method)
      throws IOException, ReflectiveOperationException {
    Searchable.requireAnserinisIds(reader, index);
    requireVectors(index, reader, method);
    refuseSoftDeleted(index, reader, method);
    Object searcher = Class.forName(SEARCHER).getConstructor(String.class).newInstance(index);
    SearcherHooks.setSimilarity(searcher, similarity);
    Class<?> type = searcher.getClass();
    type.getMethod("set_analyzer", Analyzer.class).invoke(searcher, queries.analyzer);
    Class<?> string = String.class; // of a collection to parse documents with, where no vectors are
    if (method.equals("rm3")) {
      type.getMethod(
              "set_rm3", string, int.class, int.class, float.class, boolean.class, boolean.class)
          .invoke(searcher, null, 10, 10, 0.5f, false, true);
    } else {
      type.getMethod(
              "set_rocchio", string, int.class, int.class, int.class, int.class, float.class,
              float.class, float.class, boolean.class, boolean.class)
          .invoke(searcher, null, 10, 10, 10, 10, 1f, 0.75f, 0f, false, false);
    }
    return new Feedback(searcher);
  }

  private static void requireVectors(String index, IndexReader reader, String method) {
    FieldInfo field = FieldInfos.getMergedFieldInfos(reader).fieldInfo(FIELD);
    if (field == null || !Lucene.hasTermVectors(field)) {
      throw new UserException(
          index + " has no term vectors of '" + FIELD + "', which " + method + " expands queries"
              + " from: index the collection with Anserini's -storeDocvectors");
    }
  }

  /** Anserini opens the index itself, and does not hide them. */
  private static void refuseSoftDeleted(String index, DirectoryReader reader, String method) {
    int hidden = Segments.countSoftDeleted(reader);
    if (hidden > 0) {
      throw new UserException(
          index + " has " + hidden + " soft-deleted documents, which Anserini's " + method
              + " would find: search without it, or merge them away first");
    }
  }

  /** The hits for a query, best first: of Anserini's {@code ScoredDoc}, number and score. */
  ScoreDoc[] search(String text, int hits) throws IOException {
    try {
      Object[] found = (Object[]) search.invoke(searcher, text, hits);
      ScoreDoc[] best = new ScoreDoc[found.length];
      for (int i = 0; i < found.length; i++) {
        Integer document = (Integer) field(found[i], "lucene_docid");
        best[i] = new ScoreDoc(document, (Float) field(found[i], "score"));
      }
      return best;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IOException) {
        throw (IOException) e.getCause();
      }
      throw new IllegalStateException(e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Object field(Object hit, String name) {
    try {
      return hit.getClass().getField(name).get(hit);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    ((Closeable) searcher).close();
  }
}
