"""The version of the algorithm, part of the key of every stored run."""

#: Raised whenever the same configuration and seed would give other returns.
ALGORITHM_VERSION = 2
