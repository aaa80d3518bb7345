package tdvlucene.common;

/** An error that the user can fix; its message is shown as it is, without a stack. */
public final class UserException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Whether damage can cause it too. */
  final boolean doubtful;

  private final String reason;

  public UserException(String message) {
    this(message, null);
  }

  public UserException(String message, Throwable cause) {
    this(message, message, cause, false);
  }

  private UserException(String reason, String message, Throwable cause, boolean doubtful) {
    super(message, cause);
    this.reason = reason;
    this.doubtful = doubtful;
  }

  /** An error that damage can also cause: shown only if the files of the index are sound. */
  public static UserException unlessDamaged(String message) {
    return new UserException(message, message, null, true);
  }

  /** As above, with the remedy apart. */
  public static UserException unlessDamaged(String reason, String remedy) {
    return new UserException(reason, reason + ": " + remedy, null, true);
  }

  /** The message without its remedy, where that is known apart. */
  public String reason() {
    return reason;
  }

}
