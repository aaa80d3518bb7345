"""What a comparison looks like: tables for the screen and the page, plots, the HTML page."""
