"""Why it works, on problems small enough to see."""
