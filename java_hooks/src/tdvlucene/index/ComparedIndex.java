package tdvlucene.index;

import java.io.IOException;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.SegmentReader;

/** One side of a comparison: an index, its path, and the numbers of its live documents. */
final class ComparedIndex {
  final DirectoryReader reader;
  final String path;
  final DocumentNumbers live;

  ComparedIndex(DirectoryReader reader, String path) {
    this.reader = reader;
    this.path = path;
    this.live = DocumentNumbers.ofLive(reader);
  }

  LeafReaderContext leafOf(int doc) {
    return reader.leaves().get(ReaderUtil.subIndex(doc, reader.leaves()));
  }

  static CodecReader codecReader(LeafReaderContext leaf) {
    return (CodecReader) leaf.reader();
  }

  /** Name of the segment that holds the live document with a number. */
  String segmentOf(int number) {
    return ((SegmentReader) leafOf(live.doc(number)).reader()).getSegmentName();
  }

  /** The collection's id of the live document with a number. */
  String idOf(int number) throws IOException {
    int doc = live.doc(number);
    LeafReaderContext leaf = leafOf(doc);
    return new ExternalIds(leaf, path).of(doc - leaf.docBase).utf8ToString();
  }
}
