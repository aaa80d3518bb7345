"""TDVs learned from judged queries, and the unlearned peers to compare with.

Free of Java but for reading topics and text from an index.
"""
