package tdvlucene.inspect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiBits;
import org.apache.lucene.util.Bits;
import tdvlucene.common.ExternalIds;
import tdvlucene.common.IdField;
import tdvlucene.common.Index;
import tdvlucene.common.UserException;

/** Fields that could name documents: each document has one value, and all are different. */
final class IdCandidates {
  /** Documents that are looked at: a proposal need not be sure. */
  private static final int MOST = 100_000;

  private IdCandidates() {}

  /** @param stored names of stored fields */
  static List<String> of(IndexReader reader, Index index, Collection<String> stored)
      throws IOException {
    Set<String> possible = new TreeSet<>(stored);
    for (FieldInfo info : FieldInfos.getMergedFieldInfos(reader)) {
      if (info.getDocValuesType() != DocValuesType.NONE && !info.isSoftDeletesField()) {
        possible.add(info.name);
      }
    }
    List<String> found = new ArrayList<>();
    for (String name : possible) {
      if (namesEach(reader, new IdField(reader, index, name, null))) {
        found.add(name);
      }
    }
    return found;
  }

  private static boolean namesEach(IndexReader reader, IdField field) throws IOException {
    Set<String> met = new HashSet<>();
    ExternalIds ids = new ExternalIds(field);
    Bits live = MultiBits.getLiveDocs(reader);
    for (int doc = 0; doc < reader.maxDoc() && met.size() < MOST; doc++) {
      if ((live == null || live.get(doc)) && !isNew(ids, doc, met)) {
        return false;
      }
    }
    return !met.isEmpty();
  }

  /** Whether a run can name a document so, and no other before it has that name. */
  private static boolean isNew(ExternalIds ids, int doc, Set<String> met) throws IOException {
    String id;
    try {
      id = ids.of(doc).utf8ToString();
    } catch (UserException e) { // it has none, several, or no text
      return false;
    }
    return !id.isEmpty() && id.chars().noneMatch(Character::isWhitespace) && met.add(id);
  }
}
