package tdvlucene.common;

/** An error the user can mend; its message is shown as it stands, without a stack. */
public final class UserException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UserException(String message) {
    super(message);
  }

  public UserException(String message, Throwable cause) {
    super(message, cause);
  }
}
