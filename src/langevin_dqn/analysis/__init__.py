"""From logs of runs to scores."""
