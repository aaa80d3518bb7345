package tdvlucene.search;

import io.anserini.search.SimpleSearcher;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.IOUtils;
import tdvlucene.common.Index;
import tdvlucene.common.Job;
import tdvlucene.common.Lucene;
import tdvlucene.common.UserException;

/**
 * Opens an index for {@link SearchJob}s, and sees whether it can be searched. All of them search
 * the commit that was the last one then.
 *
 * <p>Hits are those of Anserini's {@code SimpleSearcher}.
 */
public final class SearchedIndex extends Job implements Closeable {
  private static final String EXPANDED = "contents"; // the field that feedback reads

  final Index index;
  private final Similarity similarity;
  private final Queries queries;
  private Statistics statistics; // null for the index's own

  /** What expands queries: {@code rm3} or {@code rocchio}; null for none. */
  public String feedback;

  IndexReader reader;
  private final List<Similarity> further = new ArrayList<>();
  private SimpleSearcher expanding; // null for none
  private Ranking ranking;
  private List<Ranking> others = List.of();

  /** @param queries whatever they ask, for their field and what analyses them */
  public SearchedIndex(Index index, Similarity similarity, Queries queries) {
    this.index = index;
    this.similarity = similarity;
    this.queries = queries;
  }

  /**
   * The index is a shard that {@link Statistics#ofShard} looked at, scored with those of the whole;
   * it may lack the field. To be called for each field that is searched.
   *
   * @param counts as {@link Statistics#add} takes them
   * @param terms likewise
   */
  public void useStatistics(String field, String counts, String terms) {
    statistics = statistics == null ? new Statistics() : statistics;
    statistics.add(field, counts, terms);
  }

  /** What is found is scored by this similarity, too; see {@link SearchJob}. */
  public void alsoScoreBy(Similarity similarity) {
    further.add(similarity);
  }

  /** JSON: whether equal scores are ordered by id, and are printed as those. */
  @Override
  protected Object run() throws IOException, ReflectiveOperationException {
    reader = open(index);
    if (feedback != null) {
      expanding = openFeedback();
    }
    if (statistics == null) {
      Searchable.require(
          reader, index, queries.field(), bytes -> phase("checking the index", bytes),
          this::advance);
    }
    ranking = rankingBy(similarity);
    others = new ArrayList<>();
    for (Similarity other : further) {
      others.add(rankingBy(other));
    }
    return expanding == null && ranking.tiesById;
  }

  private Ranking rankingBy(Similarity by) throws IOException {
    IndexSearcher searcher =
        statistics == null
            ? ImpactSimilarity.searcher(reader, by)
            : statistics.searcher(reader, by);
    return new Ranking(searcher, index, by);
  }

  /** The best documents for a query, with the scores they were ranked by. */
  interface Search {
    ScoreDoc[] best(Queries.Topic topic, int hits) throws IOException;
  }

  /** A search in tiers; of the field of the queries alone if null. Feedback asks that alone. */
  Search search(Tiers tiers) {
    if (expanding != null) {
      return (topic, hits) ->
          Arrays.stream(expanding.search(topic.text(), hits))
              .map(found -> new ScoreDoc(found.lucene_docid, found.score))
              .toArray(ScoreDoc[]::new);
    }
    return (topic, hits) -> ranking.top(topic.query(), hits, tiers);
  }

  /** The scores of what a topic found by each further similarity: [similarity][document]. */
  float[][] otherScores(Queries.Topic topic, ScoreDoc[] found) throws IOException {
    float[][] scores = new float[others.size()][];
    for (int i = 0; i < scores.length; i++) {
      scores[i] = Tiers.scores(others.get(i).searcher, topic.query(), found);
    }
    return scores;
  }

  IndexSearcher searcher() {
    return ranking.searcher;
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(expanding, reader); // null before they are opened
  }

  /**
   * Anserini's pseudo-relevance feedback with the settings that Pyserini's {@code set_rm3()} and
   * {@code set_rocchio()} give it, on any similarity.
   *
   * <p>Hits and scores are {@code SimpleSearcher}'s own, so its field is searched: {@code contents}.
   */
  private SimpleSearcher openFeedback() throws IOException, ReflectiveOperationException {
    Searchable.requireAnserinisIds(reader, index);
    FieldInfo field = FieldInfos.getMergedFieldInfos(reader).fieldInfo(EXPANDED);
    if (field == null || !Lucene.hasTermVectors(field)) {
      throw new UserException(
          index + " has no term vectors of '" + EXPANDED + "', which " + feedback
              + " expands queries from: index the collection with Anserini's -storeDocvectors");
    }
    int hidden = Index.countSoftDeleted(reader); // not hidden where Anserini opens the index
    if (hidden > 0) {
      throw new UserException(
          index + " has " + hidden + " soft-deleted documents, which Anserini's " + feedback
              + " would find: search without it, or merge them away first");
    }
    SimpleSearcher searcher = new SimpleSearcher(index.folders().get(0)); // it has no shards
    Searchable.setSimilarity(index, searcher, similarity, null);
    searcher.set_analyzer(queries.analyzer());
    String collection = null; // to parse documents with, where no vectors are
    if (feedback.equals("rm3")) {
      searcher.set_rm3(collection, 10, 10, 0.5f, false, true);
    } else {
      searcher.set_rocchio(collection, 10, 10, 10, 10, 1f, 0.75f, 0f, false, false);
    }
    return searcher;
  }
}
