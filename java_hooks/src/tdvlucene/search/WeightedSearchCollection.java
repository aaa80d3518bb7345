package tdvlucene.search;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.similarities.Similarity;
import org.kohsuke.args4j.CmdLineException;
import org.kohsuke.args4j.CmdLineParser;

/**
 * Anserini's {@code SearchCollection} for an index made by {@code prune --tf similarity}: the same
 * command line, with {@link WeightedSimilarity} around the similarities it asks for.
 *
 * <pre>java -cp anserini-fatjar.jar:tdv-lucene-hooks.jar \
 *     tdvlucene.search.WeightedSearchCollection -index INDEX -topics TOPICS -topicReader TsvString \
 *     -output RUN -bm25</pre>
 *
 * <p>Anserini lets no similarity be named; it keeps those it made in a private list, and what stands
 * there is replaced. Anserini's classes are newer than the Java these hooks are compiled for, hence
 * reflection throughout.
 */
public final class WeightedSearchCollection {
  private static final String ANSERINI = "io.anserini.search.SearchCollection";
  private static final String FIELD = "contents";

  private WeightedSearchCollection() {}

  /** @param arguments those of Anserini's {@code SearchCollection} */
  public static void main(String[] arguments) throws Throwable {
    Object parsed = Class.forName(ANSERINI + "$Args").getConstructor().newInstance();
    try {
      new CmdLineParser(parsed).parseArgument(arguments);
    } catch (CmdLineException e) {
      System.err.println("Error: " + e.getMessage());
      System.exit(2);
    }
    try {
      Constructor<?> create = Class.forName(ANSERINI).getConstructor(parsed.getClass());
      try (AutoCloseable search = (AutoCloseable) create.newInstance(parsed)) {
        weight(search);
        ((Runnable) search).run();
      }
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static void weight(Object search) throws Exception {
    IndexReader reader = (IndexReader) field(search, "reader").get(search);
    for (Object tagged : (List<?>) field(search, "similarities").get(search)) {
      Field similarity = field(tagged, "similarity");
      Similarity plain = (Similarity) similarity.get(tagged);
      similarity.set(tagged, WeightedSimilarity.of(reader, FIELD, plain));
    }
  }

  private static Field field(Object object, String name) throws NoSuchFieldException {
    Field field = object.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
