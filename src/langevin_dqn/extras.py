"""Packages outside the base installation, and the extra of this package that installs each."""

from importlib.util import find_spec

from langevin_dqn.errors import UserError

EXTRAS = {
    "arviz_stats": "insight",
    "dm_env": "dm",
    "gymnasium": "gym",
    "gymnax": "gymnax",
    "jinja2": "report",
    "matplotlib": "plots",
    "polars": "report",
    "ray": "ray",
    "scipy": "report",
    "tensorboardX": "tensorboard",
    "torch": "torch",
    "wandb": "wandb",
    "xminigrid": "xminigrid",
}


def missing(package: str, error: ImportError | None = None) -> UserError:
    """The error for a package that is not installed, or that ``error`` shows to lack another package."""
    lacks = (getattr(error, "name", None) or package).partition(".")[0]
    if lacks != package:
        return UserError(f"{package} needs {lacks}, which is not installed", f"pip install {lacks}")
    return UserError(f"{package} is not installed", f"pip install 'langevin-dqn[{EXTRAS[package]}]'")


def require(*packages: str) -> None:
    """Refuse to start what needs packages that are not installed."""
    for package in packages:
        try:
            found = find_spec(package) is not None
        except (ImportError, ValueError):  # blocked, or half loaded
            found = False
        if not found:
            raise missing(package)
