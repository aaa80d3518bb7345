package tdvlucene.search;

import java.io.IOException;
import java.util.Collections;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.BytesRef;

/**
 * The one search of these hooks: returns what Anserini's {@code SimpleSearcher} returns, without
 * fetching the documents.
 *
 * <p>Equal scores are ordered by document id where the index has it as doc values. Indexes of
 * Lucene 8 do not; there, as in Anserini, index order decides.
 */
final class Ranking {
  private static final String ID = "id";
  private static final Sort BY_SCORE_THEN_ID =
      new Sort(SortField.FIELD_SCORE, new SortField(ID, SortField.Type.STRING_VAL));

  private final IndexSearcher searcher;
  private final boolean tiesById;

  Ranking(IndexReader reader, Similarity similarity) {
    this(new IndexSearcher(reader), similarity);
  }

  Ranking(IndexSearcher searcher, Similarity similarity) {
    this.searcher = searcher;
    searcher.setSimilarity(similarity);
    searcher.setQueryCache(null); // a cached query is not a search
    tiesById = ordersTiesById(searcher.getIndexReader());
  }

  /** Whether equal scores are ordered by document id. */
  static boolean ordersTiesById(IndexReader reader) {
    FieldInfo id = FieldInfos.getMergedFieldInfos(reader).fieldInfo(ID);
    return id != null && id.getDocValuesType() == DocValuesType.BINARY;
  }

  IndexSearcher searcher() {
    return searcher;
  }

  /** The best {@code hits} documents; low scores are skipped by block maxima. */
  ScoreDoc[] top(Query query, int hits) throws IOException {
    if (!tiesById) {
      return searcher.search(query, hits).scoreDocs;
    }
    return searcher.search(query, hits, BY_SCORE_THEN_ID, true).scoreDocs;
  }

  /**
   * The same hits with the scores they were ranked by. {@link #top} scores every hit once more, as
   * Anserini does; that sums the same terms' scores, in double precision, and costs a second search.
   */
  ScoreDoc[] topOfOneSearch(Query query, int hits) throws IOException {
    if (!tiesById) {
      return top(query, hits);
    }
    ScoreDoc[] found = searcher.search(query, hits, BY_SCORE_THEN_ID, false).scoreDocs;
    for (ScoreDoc hit : found) {
      hit.score = (Float) ((FieldDoc) hit).fields[0];
    }
    return found;
  }

  /** The collection's id of a hit. */
  String id(ScoreDoc hit) throws IOException {
    if (hit instanceof FieldDoc) {
      return ((BytesRef) ((FieldDoc) hit).fields[1]).utf8ToString();
    }
    return searcher.storedFields().document(hit.doc, Collections.singleton(ID)).get(ID);
  }

  /**
   * The scores as Anserini prints them: rounded to four decimals, ties and near ties then lowered
   * by a millionth each, so that tools that sort by score keep the order. This is the arithmetic of
   * {@code io.anserini.rerank.lib.ScoreTiesAdjusterReranker}, kept equal by a test.
   */
  float[] printedScores(ScoreDoc[] hits) {
    float[] scores = new float[hits.length];
    for (int i = 0; i < hits.length; i++) {
      scores[i] = hits[i].score;
    }
    if (tiesById) {
      lowerTies(scores);
    }
    return scores;
  }

  /** The same in place, of an index that {@link #ordersTiesById}; of any other scores stay. */
  static void lowerTies(float[] scores) {
    int tied = 0;
    for (int i = 0; i < scores.length; i++) {
      scores[i] = (float) (Math.round(scores[i] * 10000.0) / 10000.0);
      tied = i == 0 || scores[i - 1] - scores[i] > 1e-4f ? 0 : tied + 1;
      scores[i] -= 1e-6f * tied;
    }
  }
}
