package tdvlucene.prune;

import java.io.IOException;
import java.math.BigInteger;
import java.util.Base64;
import java.util.Objects;
import org.apache.lucene.index.SegmentCommitInfo;
import org.apache.lucene.index.SegmentInfo;
import org.apache.lucene.store.ByteArrayDataInput;
import org.apache.lucene.store.ByteBuffersDataOutput;
import org.apache.lucene.util.Bits;

/**
 * The segment that a pruned one was made of, kept among the pruned one's own attributes.
 *
 * <p>Lucene gives a segment an id that no other has, and never changes its files. So the two belong
 * together for as long as both are there, whatever names they have. Deletions and updates of doc
 * values come in files of their own. Deleted documents are left out of the pruned segment: those
 * that were deleted then are kept here, so that a later deletion finds its document.
 *
 * @param segment tells the segment, the state of its doc values if they were updated, and what its
 *     norms were taken for: only the whole index shows that, and later documents may show it better
 * @param deleted the documents deleted when the segment was pruned: differences of 7 bits each, in
 *     base 64
 */
record Origin(String segment, String deleted) {
  private static final String SEGMENT = "tdv.source.segment";
  private static final String DELETED = "tdv.source.deleted";

  /** For a segment that was made of all segments of an index: it is no segment's counterpart. */
  static final Origin SEVERAL = new Origin("several", "");

  /** Describes a segment that is being pruned. */
  static Origin of(Segment source, String norms) throws IOException {
    String segment = nameOf(source.info, norms);
    return new Origin(segment, encode(source.live, source.reader.maxDoc()));
  }

  /** How {@link #segment} tells a segment. */
  static String nameOf(SegmentCommitInfo source, String norms) {
    return stateOf(source) + "\n" + norms;
  }

  private static String stateOf(SegmentCommitInfo source) {
    String id = hex(source.info.getId());
    if (source.getFieldInfosGen() == -1 && source.getDocValuesGen() == -1) {
      return id;
    }
    // Updated doc values: this id changes with each update, and with each deletion too.
    byte[] state = source.getId();
    return state == null
        ? id + "/" + source.getFieldInfosGen() + "/" + source.getDocValuesGen()
        : id + "/" + hex(state);
  }

  /** Reads what a pruned segment says. */
  static Origin readFrom(SegmentInfo pruned) {
    return new Origin(
        pruned.getAttribute(SEGMENT), Objects.toString(pruned.getAttribute(DELETED), ""));
  }

  void writeTo(SegmentInfo pruned) {
    pruned.putAttribute(SEGMENT, segment);
    if (!deleted.isEmpty()) {
      pruned.putAttribute(DELETED, deleted);
    }
  }

  /** The documents of the source's segment that the pruned one has, in its order. */
  int[] documents(int maxDoc, int count) {
    int[] documents = new int[count];
    ByteArrayDataInput bytes = new ByteArrayDataInput(Base64.getDecoder().decode(deleted));
    int gone = next(bytes, -1, maxDoc);
    int at = 0;
    for (int doc = 0; doc < maxDoc && at < count; doc++) {
      if (doc == gone) {
        gone = next(bytes, gone, maxDoc);
      } else {
        documents[at++] = doc;
      }
    }
    return documents;
  }

  private static int next(ByteArrayDataInput bytes, int before, int maxDoc) {
    return bytes.eof() ? maxDoc : before + bytes.readVInt();
  }

  private static String encode(Bits live, int maxDoc) throws IOException {
    ByteBuffersDataOutput bytes = new ByteBuffersDataOutput();
    int before = -1;
    for (int doc = 0; live != null && doc < maxDoc; doc++) {
      if (!live.get(doc)) {
        bytes.writeVInt(doc - before);
        before = doc;
      }
    }
    return Base64.getEncoder().encodeToString(bytes.toArrayCopy());
  }

  private static String hex(byte[] id) {
    return new BigInteger(1, id).toString(16);
  }
}
