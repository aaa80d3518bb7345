"""TDVs learned from judged queries, and the prior that other collections give.

Free of Java but for reading topics and text from an index.
"""
