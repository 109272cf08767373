"""Environments of other libraries for our agents, and ours for other libraries."""
