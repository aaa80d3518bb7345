"""What a pruned index would answer, and how large it would be, without writing it."""
