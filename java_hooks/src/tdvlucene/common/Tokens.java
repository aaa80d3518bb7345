package tdvlucene.common;

import java.io.Closeable;
import java.io.IOException;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.analysis.tokenattributes.PositionIncrementAttribute;
import org.apache.lucene.analysis.tokenattributes.TermToBytesRefAttribute;
import org.apache.lucene.util.BytesRef;

/**
 * The tokens that an analyzer makes of a text, one at a time: a text may be far larger than the
 * memory that a list of its tokens could have.
 */
public final class Tokens implements Closeable {
  private final TokenStream stream;
  private final TermToBytesRefAttribute bytes;
  private boolean isBegun;

  /** Of the current token: its characters, its place in the text, and its step from the last. */
  public final CharTermAttribute text;

  public final OffsetAttribute place;
  public final PositionIncrementAttribute step;

  public Tokens(Analyzer analyzer, String field, String text) {
    this.stream = analyzer.tokenStream(field, text);
    this.bytes = stream.addAttribute(TermToBytesRefAttribute.class);
    this.text = stream.addAttribute(CharTermAttribute.class);
    this.place = stream.addAttribute(OffsetAttribute.class);
    this.step = stream.addAttribute(PositionIncrementAttribute.class);
  }

  /** Moves to the next token; false when there is none. */
  public boolean next() throws IOException {
    if (!isBegun) {
      stream.reset();
      isBegun = true;
    }
    if (stream.incrementToken()) {
      return true;
    }
    stream.end();
    return false;
  }

  /** A copy of the token as it is indexed. */
  public BytesRef term() {
    return BytesRef.deepCopyOf(bytes.getBytesRef());
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
