"""Bandits whose prior is known, to compare agents with exact posteriors."""
