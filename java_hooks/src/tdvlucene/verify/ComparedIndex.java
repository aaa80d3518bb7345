package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiReader;
import org.apache.lucene.index.ReaderUtil;
import tdvlucene.common.DocumentNumbers;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.Index;
import tdvlucene.common.Segments;

/** One side of a comparison: an index, its path, and the numbers of its live documents. */
final class ComparedIndex {
  final IndexReader reader;
  final Index path;
  final DocumentNumbers live;

  ComparedIndex(IndexReader reader, Index path) {
    this.reader = reader;
    this.path = path;
    this.live = DocumentNumbers.ofLive(reader);
  }

  /** Fields of the segments that have live documents: merging leaves the others out. */
  FieldInfos liveFields() throws IOException {
    List<IndexReader> readers = new ArrayList<>();
    for (LeafReaderContext leaf : reader.leaves()) {
      if (leaf.reader().numDocs() > 0) {
        readers.add(leaf.reader());
      }
    }
    try (MultiReader live = new MultiReader(readers.toArray(new IndexReader[0]), false)) {
      return FieldInfos.getMergedFieldInfos(live); // closing it gives back what it took only
    }
  }

  LeafReaderContext leafOf(int doc) {
    return reader.leaves().get(ReaderUtil.subIndex(doc, reader.leaves()));
  }

  /** Name of the segment that holds the live document with a number. */
  String segmentOf(int number) {
    return Segments.segmentOf(leafOf(live.doc(number))).getSegmentName();
  }

  /** The collection's id of the live document with a number. */
  String idOf(int number) throws IOException {
    return new ExternalIds(reader, path).of(live.doc(number)).utf8ToString();
  }
}
