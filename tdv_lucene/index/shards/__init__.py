"""One index in several folders: finding its shards, working on them, what they must share."""
