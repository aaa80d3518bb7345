"""The parts of :func:`tdv_lucene.learn.learn_term_values`; internal, and free of Java."""
