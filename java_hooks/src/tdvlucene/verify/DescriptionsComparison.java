package tdvlucene.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.LeafReaderContext;
import tdvlucene.common.Lucene;
import tdvlucene.common.UserException;

/** Compares the number of documents and the kinds of fields. */
record DescriptionsComparison(ComparedIndex source, ComparedIndex pruned) {
  /** A merge of sorted segments into one takes their documents in turn. */
  void requireSameOrder() {
    boolean sorted = false;
    for (LeafReaderContext leaf : source.reader.leaves()) {
      sorted |= Lucene.sort(leaf.reader().getMetaData()) != null;
    }
    if (sorted && !sizes(source).equals(sizes(pruned))) {
      throw new UserException(
          source.path + " is sorted and " + pruned.path + " has other segments, so that documents "
              + "come in another order: only indexes pruned segment by segment can be compared");
    }
  }

  /** Live documents of each segment that has any. */
  private static List<Integer> sizes(ComparedIndex index) {
    List<Integer> sizes = new ArrayList<>();
    for (LeafReaderContext leaf : index.reader.leaves()) {
      if (leaf.reader().numDocs() > 0) {
        sizes.add(leaf.reader().numDocs());
      }
    }
    return sizes;
  }

  /** Throws a Difference where one is not what the other should have become. */
  void compare(Map<String, ComparedField> targets, boolean mayHaveDeletions) throws IOException {
    Difference.require("documents", source.live.size(), pruned.live.size());
    if (!mayHaveDeletions) {
      Difference.require("deleted documents", 0, pruned.reader.numDeletedDocs());
    }
    FieldInfos before = source.liveFields();
    FieldInfos after = FieldInfos.getMergedFieldInfos(pruned.reader);
    Difference.require("fields", names(before), names(after));
    for (FieldInfo info : before) {
      ComparedField target = targets.get(info.name);
      boolean scaled = target != null && !target.rule.keepsFrequencies();
      FieldInfo described = scaled ? Lucene.withoutPositions(info) : info;
      Difference.require(
          "description of field '" + info.name + "'",
          describe(described), describe(after.fieldInfo(info.name)));
    }
  }

  private static Set<String> names(FieldInfos infos) {
    Set<String> names = new TreeSet<>();
    infos.forEach(info -> names.add(info.name));
    return names;
  }

  private static String describe(FieldInfo info) {
    return "index options " + info.getIndexOptions()
        + ", norms " + info.hasNorms()
        + ", term vectors " + Lucene.hasTermVectors(info)
        + ", doc values " + info.getDocValuesType()
        + ", point dimensions " + info.getPointDimensionCount()
        + ", k-NN dimensions " + info.getVectorDimension()
        + ", soft deletes " + info.isSoftDeletesField();
  }
}
