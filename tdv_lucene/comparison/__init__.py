"""Compare a full index with pruned ones: ranking, bytes, latency, terms, single queries."""
