"""TDVs learned from judged queries.

Free of Java but for reading topics and text from an index.
"""
