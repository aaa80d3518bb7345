package tdvlucene.prune;

import java.io.IOException;
import org.apache.lucene.codecs.NormsProducer;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FilterNumericDocValues;
import org.apache.lucene.index.NumericDocValues;

/**
 * Norms of the new document lengths.
 *
 * <p>A merge copies norms and never recomputes them ({@code NormsConsumer.mergeNormsField}).
 * Documents that had a norm keep one: 0 when no term is left, as for an empty text.
 */
final class PrunedNorms extends NormsProducer {
  private final NormsProducer in;
  private final Pruning pruning;

  PrunedNorms(NormsProducer in, Pruning pruning) {
    this.in = in;
    this.pruning = pruning;
  }

  @Override
  public NumericDocValues getNorms(FieldInfo info) throws IOException {
    NumericDocValues old = in.getNorms(info);
    if (!info.name.equals(pruning.field())) {
      return old;
    }
    return new FilterNumericDocValues(old) {
      @Override
      public long longValue() {
        return pruning.norms().applyAsLong(pruning.newLengths()[docID()]);
      }
    };
  }

  @Override
  public void checkIntegrity() throws IOException {
    in.checkIntegrity();
  }

  @Override
  public NormsProducer getMergeInstance() {
    return new PrunedNorms(in.getMergeInstance(), pruning);
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
