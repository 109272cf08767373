"""Modules whose doctests are left out: those whose extra is not installed, and old names."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("torch") else ["src/langevin_dqn/torch.py"]
