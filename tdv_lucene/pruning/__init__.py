"""The pruned index: how much to drop, the rewrite itself, and the proof of its result."""
