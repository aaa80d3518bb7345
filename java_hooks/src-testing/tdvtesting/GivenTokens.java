package tdvtesting;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.BytesTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.analysis.tokenattributes.PayloadAttribute;
import org.apache.lucene.analysis.tokenattributes.PositionIncrementAttribute;

/** Tokens given as [term, position increment, start offset, end offset, payload or null]. */
final class GivenTokens extends TokenStream {
  private final JsonNode tokens;
  private final BytesTermAttribute term = addAttribute(BytesTermAttribute.class);
  private final PositionIncrementAttribute step = addAttribute(PositionIncrementAttribute.class);
  private final OffsetAttribute offset = addAttribute(OffsetAttribute.class);
  private final PayloadAttribute payload = addAttribute(PayloadAttribute.class);
  private int next;

  GivenTokens(JsonNode tokens) {
    this.tokens = tokens;
  }

  @Override
  public void reset() {
    next = 0;
  }

  @Override
  public boolean incrementToken() {
    if (next >= tokens.size()) {
      return false;
    }
    clearAttributes();
    JsonNode token = tokens.get(next++);
    term.setBytesRef(Written.bytes(token.get(0)));
    step.setPositionIncrement(token.get(1).asInt());
    offset.setOffset(token.get(2).asInt(), token.get(3).asInt());
    payload.setPayload(token.get(4).isNull() ? null : Written.bytes(token.get(4)));
    return true;
  }

  @Override
  public void end() {
    clearAttributes();
    int last = tokens.size() == 0 ? 0 : tokens.get(tokens.size() - 1).get(3).asInt();
    offset.setOffset(last, last);
  }
}
