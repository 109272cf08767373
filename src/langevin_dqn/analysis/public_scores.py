"""bsuite scores that others published, for comparison.

They are of full runs (all settings, bsuite's episode counts) of agents with other networks
and settings than these, so they are a yardstick and not a target.
"""

#: Where the numbers are from.
SOURCE = "DreamerV3 (Hafner et al., arXiv:2301.04104), table 13"

_EXPERIMENTS = (
    "bandit", "bandit_noise", "bandit_scale", "cartpole", "cartpole_noise", "cartpole_scale", "cartpole_swingup",
    "catch", "catch_noise", "catch_scale", "deep_sea", "deep_sea_stochastic", "discounting_chain", "memory_len",
    "memory_size", "mnist", "mnist_noise", "mnist_scale", "mountain_car", "mountain_car_noise", "mountain_car_scale",
    "umbrella_distract", "umbrella_length",
)  # fmt: skip

_SCORES = {
    "dqn": (
        0.93, 0.71, 0.74, 0.85, 0.82, 0.72, 0.00, 0.92, 0.58, 0.85, 0.00, 0.00, 0.25, 0.04, 0.00, 0.85, 0.38, 0.49,
        0.93, 0.89, 0.85, 0.30, 0.39,
    ),
    "boot_dqn": (
        0.98, 0.80, 0.83, 0.69, 0.69, 0.65, 0.15, 0.99, 0.68, 0.65, 1.00, 0.90, 0.22, 0.04, 0.00, 0.85, 0.34, 0.31,
        0.93, 0.82, 0.56, 0.26, 0.39,
    ),
}  # fmt: skip

#: By agent, then by experiment.
PUBLIC: dict[str, dict[str, float]] = {
    agent: dict(zip(_EXPERIMENTS, scores, strict=True)) for agent, scores in _SCORES.items()
}
