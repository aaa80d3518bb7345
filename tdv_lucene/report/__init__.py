"""Tables for the screen and the page, plots, the HTML page of a comparison."""
