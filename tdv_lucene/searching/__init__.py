"""Search with the parameters an index records, and tune them."""
