"""The experiments of bsuite as JAX environments, and its sweeps as data."""
