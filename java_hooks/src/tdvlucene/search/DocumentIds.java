package tdvlucene.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Terms;
import org.apache.lucene.util.BytesRef;
import tdvlucene.common.Indexes;
import tdvlucene.common.Json;

/** Finds out which documents an index has, by the collection's ids. */
public final class DocumentIds {
  private DocumentIds() {}

  /**
   * A JSON array of those of the given ids that are in the index; one dictionary lookup each.
   *
   * @param ids a JSON array
   */
  public static String known(String index, String ids) throws IOException {
    List<String> asked = Json.parseStrings(ids);
    return Indexes.read(index, reader -> {
      List<String> known = new ArrayList<>();
      for (String id : asked) {
        if (contains(reader, new BytesRef(id))) {
          known.add(id);
        }
      }
      return Json.of(known);
    });
  }

  private static boolean contains(DirectoryReader reader, BytesRef id) throws IOException {
    for (LeafReaderContext leaf : reader.leaves()) {
      Terms terms = leaf.reader().terms("id");
      if (terms != null && terms.iterator().seekExact(id)) {
        return true;
      }
    }
    return false;
  }
}
