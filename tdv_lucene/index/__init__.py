"""Indexes themselves: built by Anserini, inspected, and what they record of how they were made."""
