"""What a run is worth: measures a query, significance, agreement of two rankings."""
