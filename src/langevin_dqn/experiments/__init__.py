"""What still has to be run, and what a sweep is doing."""
