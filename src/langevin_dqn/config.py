"""Everything that can be set about an agent, as one typed object.

The same object is used from Python, from the command line (``--set field=value``) and in
stored results. It imports nothing heavy, so the command line can read it at once.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from langevin_dqn.errors import UserError, unknown

_CHOICES = {
    "buffer_discipline": ("oldest", "random"),
    "insertion": ("buffers", "mask"),
    "regularizer_form": ("sum", "mean"),
    "update_timing": ("between", "within"),
    "row_updates": ("auto", "dense", "sleeping"),
    "optimizer": ("adam", "sgd"),
}


@dataclass(frozen=True)
class AgentConfig:
    """One agent of the common template (alg1 is alg3 with one member).

    The defaults are the paper's common choices; the presets in ``presets.py`` say the rest.
    """

    members: int = 1
    """Models in the ensemble; one is drawn per episode to act (alg3)."""
    hidden: tuple[int, ...] = (50, 50)
    """Units of each hidden layer; none (``hidden=``) makes the values linear in what is observed."""
    negative_slope: float = 0.0
    """Slope of the activation below zero: 0 is ReLU, 0.1 the paper's LeakyReLU."""
    learning_rate: float = 1e-3
    """α of alg4."""
    noise_variance: float = 0.0
    """σ_w², the variance of the Langevin noise; 0 gives Adam."""
    noise_per_depth: bool = False
    """Multiply σ_w² by the environment's depth, as for fig2."""
    adam_b1: float = 0.9
    """Decay of the first moment."""
    adam_b2: float = 0.999
    """Decay of the second moment."""
    adam_eps: float = 1e-6
    """ε of alg4; it sets how far weights without gradient wander."""
    debiased_drift: bool = False
    """Drift from debiased moments (the authors' code) instead of alg4's raw ones."""
    regularizer: float = 0.0
    """λ of the penalty ψ."""
    regularizer_form: str = "sum"
    """``sum``: σ_w²λ/|D|·Σθ² (the paper). ``mean``: λ/|D|·Σ over tensors of mean θ² (the authors' code)."""
    loss_scale: float = 1.0
    """Factor of the mean squared TD error; 0.5 is the ½ of the paper's text."""
    mean_over_members: bool = False
    """Also divide the loss by the number of members, as the authors' code does."""
    discount: float = 1.0
    """γ."""
    batch_size: int = 128
    """Transitions per minibatch, drawn with replacement."""
    shared_minibatch: bool = False
    """All members learn from one minibatch (the authors' code) instead of one each (alg3)."""
    buffer_size: int = 100_000
    """Transitions a buffer holds."""
    buffer_discipline: str = "oldest"
    """Which transition a full buffer gives up: the ``oldest`` or a ``random`` one."""
    min_replay_size: int = 0
    """No updates before the buffer holds this many transitions."""
    insertion_probability: float = 1.0
    """p of alg3: the chance that a member gets to see a transition."""
    insertion: str = "buffers"
    """``buffers``: one buffer per member (alg3). ``mask``: one buffer and a mask per member, masked samples
    counting as zeros in the mean (the authors' code)."""
    target_period: int = 4
    """Updates between copies of the parameters to the target."""
    independent_target: bool = False
    """Start the target from its own random draw (the authors' code) instead of θ_0."""
    target_noise: float = 0.0
    """Standard deviation of noise on the reward, drawn once per stored transition and member."""
    prior_scale: float = 0.0
    """Scale of the additive prior network; 0 means none."""
    prior_noise: bool = False
    """Let the prior network take Langevin noise too: a slip of the authors' code."""
    epsilon: float = 0.0
    """Chance of a uniformly random action; with a decay, its value in the first episode."""
    epsilon_final: float = 0.0
    """Where a decaying ε ends."""
    epsilon_decay_episodes: int = 0
    """Episodes over which ε falls linearly to ``epsilon_final``; 0 keeps it constant."""
    updates_per_step: int = 1
    """U, updates for each environment step."""
    update_timing: str = "between"
    """``between`` episodes (U times the steps of the last one) or ``within``, after each step."""
    row_updates: str = "auto"
    """First layer of index observations: a ``dense`` step for all rows, ``sleeping`` rows that are touched only
    when read (equal in law), or whichever is faster (``auto``)."""
    optimizer: str = "adam"
    """``adam``: alg4. ``sgd``: eq. (5) as it is, as the paper's bandits use it; its chain samples the posterior."""

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise unknown(f"value of {name}", str(getattr(self, name)), choices)
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if not (math.isfinite(value) and low <= value <= high):
                limit = f"from {low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"
                raise UserError(f"{name}={value:g} is out of range", f"{name} is {limit}")
        for name in ("adam_b1", "adam_b2"):
            if getattr(self, name) == 1:
                raise UserError(f"{name}=1 never forgets", f"{name} is at least 0 and below 1")
        if min(self.hidden, default=1) < 1:
            raise UserError(f"hidden={self.hidden} has an empty layer", "write for instance hidden=50,50")
        if self.optimizer == "sgd" and self.prior_noise:
            raise UserError("prior_noise is for optimizer=adam", "only the authors' code has it, and that uses adam")
        if self.batch_size > self.buffer_size:
            raise UserError(
                f"batch_size={self.batch_size} is larger than buffer_size={self.buffer_size}",
                f"use batch_size={self.buffer_size} or a larger buffer",
            )
        if self.min_replay_size > self.buffer_size:
            raise UserError(
                f"min_replay_size={self.min_replay_size} is larger than buffer_size={self.buffer_size}",
                "the buffer would never be full enough to learn from",
            )

    def replace(self, **changes: Any) -> "AgentConfig":
        """A copy with some fields changed; unknown names are refused with a hint."""
        for name in changes:
            if name not in FIELD_TYPES:
                raise unknown("field", name, FIELD_TYPES)
        return dataclasses.replace(self, **changes)

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> "AgentConfig":
        """The configuration that :meth:`to_dict` or a stored run gives; what is None keeps its default."""
        given = {name: value for name, value in mapping.items() if value is not None}
        return cls().replace(**{name: tuple(v) if isinstance(v, list) else v for name, v in given.items()})

    def identity(self) -> dict[str, Any]:
        """The fields that differ from the defaults, settings of type float as floats: what names a stored run."""
        defaults = AgentConfig()
        changed = {name: value for name, value in vars(self).items() if value != getattr(defaults, name)}
        return {name: float(value) if FIELD_TYPES[name] is float else value for name, value in changed.items()}

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in dataclasses.asdict(self).items()}


_INF = math.inf
_RANGES = (
    ("members", 1, 1000), ("negative_slope", 0, 1), ("learning_rate", 0, _INF), ("noise_variance", 0, _INF),
    ("adam_b1", 0, 1), ("adam_b2", 0, 1), ("adam_eps", 0, _INF), ("regularizer", 0, _INF),
    ("loss_scale", 0, _INF), ("discount", 0, 1), ("batch_size", 1, _INF), ("buffer_size", 1, _INF),
    ("min_replay_size", 0, _INF), ("insertion_probability", 0, 1), ("target_period", 1, _INF),
    ("target_noise", 0, _INF), ("prior_scale", 0, _INF), ("epsilon", 0, 1), ("epsilon_final", 0, 1),
    ("epsilon_decay_episodes", 0, _INF), ("updates_per_step", 0, _INF),
)  # fmt: skip

#: Field names and types, in order.
FIELD_TYPES: dict[str, Any] = get_type_hints(AgentConfig)


def parse_assignment(text: str) -> tuple[str, Any]:
    """``noise_variance=1e-5`` as a field's name and its value, typed as the field is."""
    name, separator, value = text.partition("=")
    if not separator:
        raise UserError(f"--set {text} has no value", "write --set field=value")
    if name not in FIELD_TYPES:
        raise unknown("field", name, FIELD_TYPES)
    kind = FIELD_TYPES[name]
    try:
        if kind is bool:
            return name, {"true": True, "false": False}[value.lower()]
        if kind in (int, float, str):
            return name, kind(value)
        return name, tuple(int(v) for v in value.split(",")) if value else ()
    except (ValueError, KeyError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "numbers, as in 50,50")
        raise UserError(f"{name}={value} cannot be read", f"{name} takes {wanted}") from None
