"""Topics and judgements, measures of runs, significance, agreement of two rankings."""
