"""Ways to make word vectors of index terms; internal to :mod:`tdv_lucene.embed`."""
