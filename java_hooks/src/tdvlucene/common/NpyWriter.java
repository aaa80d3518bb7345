package tdvlucene.common;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Streams a one-dimensional array to a NumPy {@code .npy} file (format 1.0, little endian).
 *
 * <p>The length is known only at the end, so the header is reserved first and written on close.
 * Memory: one fixed buffer.
 */
public final class NpyWriter implements Closeable {
  private static final int HEADER_BYTES = 128;
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int LARGEST_SHORT = (1 << 16) - 1;

  private final FileChannel channel;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final String dtype;
  private final int itemBytes;
  private long bytes;

  /** @param dtype NumPy's name, one of {@code |u1}, {@code <u2}, {@code <i4}, {@code <i8}, or
   *     {@code <f4} and {@code <f8}, whose items are given as their bits */
  public NpyWriter(Path path, String dtype) throws IOException {
    this.dtype = dtype;
    this.itemBytes = Integer.parseInt(dtype.substring(2));
    this.channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    channel.position(HEADER_BYTES);
  }

  /** As above, {@code name.npy} in a folder. */
  public NpyWriter(Path folder, String name, String dtype) throws IOException {
    this(folder.resolve(name + ".npy"), dtype);
  }

  public void writeInt(int value) throws IOException {
    require(Integer.BYTES);
    buffer.putInt(value);
  }

  /** Writes the first {@code length} items of an array. */
  public void writeInts(int[] source, int length) throws IOException {
    for (int i = 0; i < length; i++) {
      writeInt(source[i]);
    }
  }

  /** Writes the first {@code length} items as unsigned shorts; what does not fit as the largest. */
  public void writeCapped(int[] source, int length) throws IOException {
    for (int i = 0; i < length; i++) {
      require(Short.BYTES);
      boolean fits = source[i] >= 0 && source[i] < LARGEST_SHORT;
      buffer.putShort((short) (fits ? source[i] : LARGEST_SHORT));
    }
  }

  public void writeLong(long value) throws IOException {
    require(Long.BYTES);
    buffer.putLong(value);
  }

  public void writeBytes(byte[] source, int offset, int length) throws IOException {
    while (length > 0) {
      require(1);
      int step = Math.min(length, buffer.remaining());
      buffer.put(source, offset, step);
      offset += step;
      length -= step;
    }
  }

  /** Bytes of array data written so far. */
  public long bytes() {
    return bytes + buffer.position();
  }

  private void require(int size) throws IOException {
    if (buffer.remaining() < size) {
      flush();
    }
  }

  private void flush() throws IOException {
    buffer.flip();
    bytes += buffer.remaining();
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    buffer.clear();
  }

  @Override
  public void close() throws IOException {
    try (FileChannel closing = channel) {
      flush();
      closing.position(0);
      closing.write(ByteBuffer.wrap(header(bytes / itemBytes)));
    }
  }

  private byte[] header(long length) {
    String dict =
        "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': (" + length + ",), }";
    int padded = HEADER_BYTES - 10; // the magic string, the version and the header's length
    String text = String.format("%-" + (padded - 1) + "s\n", dict);
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    header.put((byte) 0x93).put("NUMPY".getBytes(StandardCharsets.US_ASCII));
    header.put((byte) 1).put((byte) 0).putShort((short) padded);
    return header.put(text.getBytes(StandardCharsets.US_ASCII)).array();
  }
}
