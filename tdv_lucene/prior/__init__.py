"""What other judged collections say of an index, and how sure that is."""
