package tdvlucene.common;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;

/** NumPy's {@code .npy} files of a folder, little endian, mapped into memory. */
public final class NpyFolder implements Closeable {
  private static final int PREFIX = 10; // magic string, version, header length

  private final Directory folder;
  private final List<IndexInput> files = new ArrayList<>();

  public NpyFolder(String path) throws IOException {
    folder = new MMapDirectory(Paths.get(path));
  }

  /** The array's content, without NumPy's header; good until this is closed. */
  public IndexInput array(String name) throws IOException {
    IndexInput file = folder.openInput(name, IOContext.DEFAULT);
    files.add(file); // a slice does not close what it was cut from
    file.seek(PREFIX - Short.BYTES);
    long header = PREFIX + Short.toUnsignedInt(file.readShort());
    return file.slice(name, header, file.length() - header);
  }

  /** All of a float32 array; null where there is no such file. */
  public float[] floats(String name) throws IOException {
    if (!Arrays.asList(folder.listAll()).contains(name)) {
      return null;
    }
    IndexInput file = array(name);
    float[] values = new float[Math.toIntExact(file.length() / Float.BYTES)];
    file.readFloats(values, 0, values.length);
    return values;
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(files);
    folder.close();
  }
}
