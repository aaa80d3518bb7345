"""TDVs: which terms and postings they drop, and what frequencies they leave."""
