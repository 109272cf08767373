"""Runs: what one is asked for by, where it happens, what it gave, and how it is kept. Nothing here knows an agent."""
