"""What settings are called elsewhere, to answer an unknown name with the one that is meant."""

#: Names of fields elsewhere, and here.
SYNONYMS = {
    "alpha": "learning_rate", "lr": "learning_rate", "step_size": "learning_rate", "gamma": "discount",
    "eps": "adam_eps", "exploration": "epsilon", "batch": "batch_size", "minibatch_size": "batch_size",
    "buffer": "buffer_size", "replay_size": "buffer_size", "buffer_capacity": "buffer_size",
    "ensemble_size": "members", "num_ensemble": "members", "sigma": "noise_variance", "noise": "noise_variance",
    "temperature": "noise_variance", "target_update_period": "target_period",
    "target_network_update_freq": "target_period", "weight_decay": "regularizer", "hidden_sizes": "hidden",
    "layers": "hidden", "net_arch": "hidden", "sgd_steps": "updates_per_step", "gradient_steps": "updates_per_step",
    "learning_starts": "min_replay_size",
}  # fmt: skip

#: Names of the length of a run, which is no field of an agent, and the argument that sets it.
RUN_LENGTH = {
    "num_episodes": "episodes", "n_episodes": "episodes", "max_episodes": "episodes", "num_steps": "steps",
    "max_steps": "steps", "total_steps": "steps", "total_timesteps": "steps", "timesteps": "steps",
}  # fmt: skip


def hint_for(name: str) -> str | None:
    """What is meant by a name that is no field's, if that is known."""
    if name in RUN_LENGTH:
        return f"did you mean train({RUN_LENGTH[name]}=...), or --{RUN_LENGTH[name]}?"
    return f"did you mean {SYNONYMS[name]!r}?" if name in SYNONYMS else None
