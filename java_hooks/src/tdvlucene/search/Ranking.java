package tdvlucene.search;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.IOFunction;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;

/**
 * The one search of these hooks: returns what Anserini's {@code SimpleSearcher} returns, without
 * fetching the documents.
 *
 * <p>Equal scores are ordered by document id where the index is Anserini's and has it as binary doc
 * values. Indexes of Lucene 8 do not; there, as in Anserini, index order decides.
 */
final class Ranking {
  private static final String ID = "id";
  private static final Sort BY_SCORE_THEN_ID =
      new Sort(SortField.FIELD_SCORE, new SortField(ID, SortField.Type.STRING_VAL));
  private static final Comparator<ScoreDoc> BY_ID =
      Comparator.comparing(Ranking::idBytes, Comparator.nullsFirst(Comparator.naturalOrder()));
  private static final int SPARE = 20;
  private static final int SPARE_SHARE = 10;

  final IndexSearcher searcher;

  /** Whether equal scores are ordered by document id. */
  final boolean tiesById;

  Ranking(IndexReader reader, Index index, Similarity similarity) throws IOException {
    this(ImpactSimilarity.searcher(reader, similarity), index, similarity);
  }

  Ranking(IndexSearcher searcher, Index index, Similarity similarity) throws IOException {
    IndexReader reader = searcher.getIndexReader();
    this.searcher = ready(searcher, NormReading.of(reader, index, similarity));
    FieldInfo id = FieldInfos.getMergedFieldInfos(reader).fieldInfo(ID);
    tiesById =
        id != null
            && id.getDocValuesType() == DocValuesType.BINARY
            && IdField.whyNotAnserinis(reader).isEmpty();
  }

  /** Ranks with a similarity, and without a cache: a cached query is not a search. */
  static IndexSearcher ready(IndexSearcher searcher, Similarity similarity) {
    searcher.setSimilarity(similarity);
    searcher.setQueryCache(null);
    return searcher;
  }

  /**
   * The best {@code hits} documents with the scores they were ranked by. Anserini scores every hit
   * once more; that sums the same terms' scores, in double precision, and costs a second search.
   *
   * <p>A search that compares ids keeps the id of every document it meets. So a few more hits are
   * searched by score alone, and ids order those that are equal. Where the last of them is still
   * equal to a hit, others like it may have been left out, and ids are compared throughout.
   *
   * @param tiers null to search the field of the query alone
   */
  ScoreDoc[] top(Query query, int hits, Tiers tiers) throws IOException {
    if (!tiesById) {
      return first(Tiers.search(tiers, searcher, searcher, query, hits), hits);
    }
    if (tiers == null || !tiers.answer(query)) {
      return byScoreThenId(query, hits, more -> searcher.search(query, more).scoreDocs);
    }
    // Of equal scores at the depth's end, ids say which are ranked: shards then agree on them.
    Tiers.FirstTier byIds =
        (hot, wanted, most) ->
            byScoreThenId(hot.query(), most, more -> hot.best(wanted, more));
    return ordered(tiers.search(searcher, searcher, query, hits, byIds), hits);
  }

  private ScoreDoc[] byScoreThenId(
      Query query, int hits, IOFunction<Integer, ScoreDoc[]> finding) throws IOException {
    int more = (int) Math.min(Integer.MAX_VALUE - 1, (long) hits + SPARE + hits / SPARE_SHARE);
    ScoreDoc[] found = finding.apply(more);
    if (found.length == more && found[more - 1].score == found[hits - 1].score) {
      return topByIds(query, hits);
    }
    return ordered(found, hits);
  }

  /**
   * A searcher that finds bags of words by a ranking: for Anserini's searcher, which asks for hits by
   * score and then id, with their scores.
   */
  static IndexSearcher asking(Ranking ranking, Tiers tiers) {
    return new IndexSearcher(ranking.searcher.getIndexReader()) {
      @Override
      public TopFieldDocs search(Query query, int hits, Sort sort, boolean doDocScores)
          throws IOException {
        if (!tiers.answer(query)) {
          return super.search(query, hits, sort, doDocScores);
        }
        TopDocs found = search(query, hits);
        return new TopFieldDocs(found.totalHits, found.scoreDocs, sort.getSort());
      }

      @Override
      public TopDocs search(Query query, int hits) throws IOException {
        if (!tiers.answer(query)) {
          return super.search(query, hits);
        }
        ScoreDoc[] found = ranking.top(query, hits, tiers);
        TotalHits atLeast =
            new TotalHits(found.length, TotalHits.Relation.GREATER_THAN_OR_EQUAL_TO);
        return new TopDocs(atLeast, found);
      }
    };
  }

  private static ScoreDoc[] first(ScoreDoc[] found, int hits) {
    return found.length <= hits ? found : Arrays.copyOf(found, hits);
  }

  /** The first of these hits, once ids order those that are equal. */
  private ScoreDoc[] ordered(ScoreDoc[] found, int hits) throws IOException {
    ScoreDoc[] identified = withIds(found);
    for (int from = 0, to; from < identified.length; from = to) {
      for (to = from + 1; to < identified.length && found[to].score == found[from].score; to++) {}
      if (to - from > 1) {
        Arrays.sort(identified, from, to, BY_ID);
      }
    }
    return first(identified, hits);
  }

  private ScoreDoc[] topByIds(Query query, int hits) throws IOException {
    ScoreDoc[] found = searcher.search(query, hits, BY_SCORE_THEN_ID, false).scoreDocs;
    for (ScoreDoc hit : found) {
      hit.score = (Float) ((FieldDoc) hit).fields[0];
    }
    return found;
  }

  /** The hits with score and id, as a search by {@link #BY_SCORE_THEN_ID} returns them. */
  private ScoreDoc[] withIds(ScoreDoc[] hits) throws IOException {
    BinaryDocValues ids = MultiDocValues.getBinaryValues(searcher.getIndexReader(), ID);
    ScoreDoc[] identified = new ScoreDoc[hits.length];
    long[] inIndexOrder = new long[hits.length]; // their places in the lower half
    Arrays.setAll(inIndexOrder, i -> (long) hits[i].doc << Integer.SIZE | i);
    Arrays.sort(inIndexOrder);
    for (long next : inIndexOrder) {
      ScoreDoc hit = hits[(int) next];
      boolean has = ids.advanceExact(hit.doc);
      BytesRef id = has ? BytesRef.deepCopyOf(ids.binaryValue()) : null;
      identified[(int) next] = new FieldDoc(hit.doc, hit.score, new Object[] {hit.score, id});
    }
    return identified;
  }

  private static BytesRef idBytes(ScoreDoc hit) {
    return (BytesRef) ((FieldDoc) hit).fields[1];
  }
}
