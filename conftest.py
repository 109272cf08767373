"""Doctests of modules whose extra is not installed are left out."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("torch") else ["src/langevin_dqn/torch.py"]
