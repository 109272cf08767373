"""Pictures of results: plain data in, a file out."""
