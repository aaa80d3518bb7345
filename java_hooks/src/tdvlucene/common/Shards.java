package tdvlucene.common;

import java.util.List;

/**
 * An index in several folders, its shards, which are read as one index.
 *
 * <p>Wherever a path of an index is taken, several may stand with a separator between them, and the
 * field that names its documents behind them (see {@link IdField}).
 */
public final class Shards {
  /** ASCII's record separator; Python's side refuses folders with it in their names. */
  private static final String SEPARATOR = "\u001e";

  private Shards() {}

  /** The folders of an index: of most, one. */
  public static List<String> of(String index) {
    return List.of(IdField.path(index).split(SEPARATOR, -1));
  }

  /** A message as users read it. */
  static String show(String message) {
    return message == null ? null : IdField.hide(message).replace(SEPARATOR, ", ");
  }
}
