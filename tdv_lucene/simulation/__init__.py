"""The answers and the size of a pruned index that has not been written."""
