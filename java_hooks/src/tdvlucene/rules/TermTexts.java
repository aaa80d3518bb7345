package tdvlucene.rules;

import java.io.IOException;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.UserException;

/** The vocabulary's terms on the heap, by number. Read-only, so threads can share it. */
public final class TermTexts {
  private final byte[] bytes;
  private final int[] ends;

  TermTexts(TermTable table) throws IOException {
    if (table.termBytes() > Integer.MAX_VALUE - 8) {
      throw new UserException(
          "the terms take " + table.termBytes() + " bytes, more than one Java array holds, which "
              + "rewriting term vectors needs: index the collection without -storeDocvectors");
    }
    bytes = new byte[(int) table.termBytes()];
    ends = new int[table.size() + 1];
    TermTable.Cursor cursor = table.cursor();
    for (int term = 0; cursor.seek(term); term++) {
      BytesRef text = cursor.term();
      System.arraycopy(text.bytes, text.offset, bytes, ends[term], text.length);
      ends[term + 1] = ends[term] + text.length;
    }
  }

  /** Points {@code text} at a term; its bytes are not to be changed. */
  public void get(int term, BytesRef text) {
    text.bytes = bytes;
    text.offset = ends[term];
    text.length = ends[term + 1] - ends[term];
  }
}
