"""Modules whose doctests are left out: those whose extra is not installed, and old names, which warn."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("torch") else ["src/langevin_dqn/torch.py"]
collect_ignore += [f"src/langevin_dqn/environments/{name}.py" for name in ("as_gymnasium", "dm_env", "gymnasium")]
