"""The version of the algorithm, which keeps runs that would differ apart. It imports nothing."""

#: Changes whenever the same configuration and seed would give other returns.
ALGORITHM_VERSION = 2
