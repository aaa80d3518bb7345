package tdvlucene.common;

/** An error that the user can fix; its message is shown as it is, without a stack. */
public final class UserException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean doubtful;

  public UserException(String message) {
    this(message, null);
  }

  public UserException(String message, Throwable cause) {
    this(message, cause, false);
  }

  private UserException(String message, Throwable cause, boolean doubtful) {
    super(Shards.show(message), cause);
    this.doubtful = doubtful;
  }

  /** An error that damage can also cause: shown only if the files of the index are sound. */
  public static UserException unlessDamaged(String message) {
    return new UserException(message, null, true);
  }

  boolean isDoubtful() {
    return doubtful;
  }
}
