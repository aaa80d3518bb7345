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
  private final TermToBytesRefAttribute term;
  private final CharTermAttribute characters;
  private final OffsetAttribute place;
  private final PositionIncrementAttribute step;
  private boolean isBegun;

  public Tokens(Analyzer analyzer, String field, String text) {
    stream = analyzer.tokenStream(field, text);
    term = stream.addAttribute(TermToBytesRefAttribute.class);
    characters = stream.addAttribute(CharTermAttribute.class);
    place = stream.addAttribute(OffsetAttribute.class);
    step = stream.addAttribute(PositionIncrementAttribute.class);
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
    return BytesRef.deepCopyOf(term.getBytesRef());
  }

  /** The same in characters. */
  public String text() {
    return characters.toString();
  }

  /** Where it begins in the text, in UTF-16 units. */
  public int start() {
    return place.startOffset();
  }

  /** Where it ends, likewise. */
  public int end() {
    return place.endOffset();
  }

  /** By how many places it comes after the token before; 0 for none. */
  public int step() {
    return step.getPositionIncrement();
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
