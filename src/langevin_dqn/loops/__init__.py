"""Training loops: they know agents by their protocol only."""
