"""The full index against pruned ones: ranking, bytes, latency, terms, single queries."""
