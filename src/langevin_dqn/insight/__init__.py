"""Small exact cases that show why the algorithms work."""
