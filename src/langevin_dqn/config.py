"""Everything that can be set about a value agent, as one typed object.

The same object is used from Python, from the command line (``--set field=value``) and in stored
results. Each setting is declared once, with its default, its range and whether it is traced;
checks, messages, parsing and what an agent compiles with follow from that declaration. The module
imports nothing heavy, so the command line can read it at once.
"""

import dataclasses
import math
import numbers
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from langevin_dqn.errors import MOST_FLOAT, MOST_INT, UserError, unknown
from langevin_dqn.field_docs import DocWithFields
from langevin_dqn.synonyms import hint_for


@dataclass(frozen=True)
class Setting:
    """What is known about a field beside its type and default.

    Attributes:
        low: the least value.
        high: the largest value.
        below: a value that must not be reached.
        choices: the words that a text may be.
        traced: a number that may change without compiling again.
        absent: the value of a traced number that leaves its part out of the program.
        stored_as: the field's name in the identity of stored runs, where it was renamed since.
        old_words: words that were accepted before, and the words for them now.
        revision: raised when a value other than the default comes to mean something else, so that stored runs are
            kept apart.
    """

    low: float = -math.inf
    high: float = math.inf
    below: float | None = None
    choices: tuple[str, ...] = ()
    traced: bool = False
    absent: float | None = None
    stored_as: str | None = None
    old_words: Mapping[str, str] = dataclasses.field(default_factory=dict)
    revision: int = 1

    def check(self, name: str, kind: type, value: Any) -> None:
        """Refuse a value of another type or out of range."""
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                raise unknown(f"value of {name}", str(value), self.choices)
            return
        wanted = {bool: bool, int: numbers.Integral, float: numbers.Real}.get(kind)
        if wanted is not None and (not isinstance(value, wanted) or (kind is not bool and isinstance(value, bool))):
            raise UserError(f"{name}={value!r} has the wrong type", f"{name} must be {_NOUNS[kind]}")
        if kind not in (int, float):
            return
        high = min(self.high, MOST_INT if kind is int else MOST_FLOAT)
        in_range = (kind is int or math.isfinite(value)) and self.low <= value <= high
        if not in_range or (self.below is not None and not value < self.below):
            most = MOST_INT if kind is int else MOST_FLOAT
            limit = f"at most {most}" if value > most == high else self.range
            raise UserError(f"{name}={_shown(value)} is out of range", f"{name} must be {limit}")

    @property
    def range(self) -> str:
        """The allowed values in words."""
        if self.below is not None:
            return f"at least {self.low:g} and below {self.below:g}"
        if math.isfinite(self.high):
            return f"between {self.low:g} and {self.high:g}"
        return f"at least {self.low:g}"


def _shown(value: Any) -> str:
    return f"{value:g}" if abs(value) < 1e300 or isinstance(value, float) else "(too large to show)"


_NOUNS: dict[Any, str] = {bool: "true or false", int: "a whole number", float: "a number"}


def _setting(default: Any, low: float = -math.inf, high: float = math.inf, **more: Any) -> Any:
    return dataclasses.field(default=default, metadata={"setting": Setting(low, high, **more)})


def _choice(default: str, *choices: str, **more: Any) -> Any:
    return dataclasses.field(default=default, metadata={"setting": Setting(choices=choices, **more)})


@dataclass(frozen=True)
class AgentConfig:
    """The settings of a value agent (Algorithm 1 is Algorithm 3 with one member).

    The defaults are the paper's common choices; the presets in ``presets.py`` set the rest.
    """

    members: int = _setting(1, 1, 1000)
    """Number of models in the ensemble; one is drawn per episode to act (Algorithm 3)."""
    hidden: tuple[int, ...] = (50, 50)
    """Units of each hidden layer; without any (``hidden=``), the values are linear in the observation."""
    negative_slope: float = _setting(0.0, 0, 1)
    """Slope of the activation below zero: 0 is ReLU, 0.1 the paper's LeakyReLU."""
    learning_rate: float = _setting(1e-3, 0, traced=True)
    """Learning rate, α of Algorithm 4."""
    noise_variance: float = _setting(0.0, 0, traced=True, absent=0)
    """σ_w², the variance of the Langevin noise; 0 gives Adam."""
    noise_per_depth: bool = _setting(False)
    """Multiply σ_w² by the environment's depth, as for Figure 2 of the paper."""
    adam_b1: float = _setting(0.9, 0, below=1, traced=True)
    """Decay rate of the first moment, β₁ of Adam."""
    adam_b2: float = _setting(0.999, 0, below=1, traced=True)
    """Decay rate of the second moment, β₂ of Adam."""
    adam_eps: float = _setting(1e-6, 0, traced=True)
    """ε of Algorithm 4; it sets how far weights without gradient fluctuate."""
    bias_correction: bool = _setting(False, stored_as="debiased_drift")
    """Drift from bias-corrected moments (the authors' code) instead of Algorithm 4's raw ones."""
    regularizer: float = _setting(0.0, 0, traced=True, absent=0)
    """Weight λ of the regularizer ψ."""
    regularizer_form: str = _choice("sum", "sum", "mean")
    """``sum``: σ_w²λ/|D|·Σθ² (the paper). ``mean``: λ/|D|·Σ over tensors of mean θ² (the authors' code)."""
    loss_scale: float = _setting(1.0, 0, traced=True)
    """Factor of the mean squared TD error; 0.5 gives the ½ of the paper's text."""
    mean_over_members: bool = _setting(False)
    """Also divide the loss by the number of members, as the authors' code does."""
    discount: float = _setting(1.0, 0, 1, traced=True)
    """Discount factor γ."""
    value_scale: float = _setting(1.0, 1e-15, 1e15, traced=True, absent=1)
    """Rewards are divided by this before learning, so that noise and prior are relative to it."""
    value_scaling: str = _choice("fixed", "fixed", "grow", "discounted", "warmup")
    """``fixed``: ``value_scale`` is constant. ``grow``: it is an initial guess, raised to the largest return seen, and
    lowered to it once a return was above zero. ``discounted``: as ``grow``, with the discounted sum of the rewards so
    far in place of the return. ``warmup``: as ``grow``, starting from the largest return of random steps before
    training."""
    batch_size: int = _setting(128, 1)
    """Transitions per minibatch, drawn with replacement."""
    shared_minibatch: bool = _setting(False)
    """All members learn from one minibatch (the authors' code) instead of one each (Algorithm 3)."""
    recent_fraction: float = _setting(0.0, 0, 1)
    """Fraction f of each minibatch that is drawn from the last ``recent_window`` transitions, the rest from all of D.
    A transition then counts 1 - f times as much as in Algorithm 2, and f·|D|/window times more while it is recent."""
    recent_window: int = _setting(1000, 1, traced=True)
    """Number of latest transitions from which ``recent_fraction`` is drawn."""
    buffer_size: int = _setting(100_000, 1)
    """Capacity of a replay buffer, in transitions."""
    buffer_discipline: str = _choice("oldest", "oldest", "random")
    """Transition that is replaced when a buffer is full: the ``oldest`` or a ``random`` one."""
    min_replay_size: int = _setting(0, 0, traced=True)
    """Number of transitions in the buffer before updates start."""
    insertion_probability: float = _setting(1.0, 0, 1, traced=True, absent=1)
    """Probability p that a transition is added to a member's buffer (Algorithm 3)."""
    insertion: str = _choice("buffers", "buffers", "mask")
    """``buffers``: one buffer per member (Algorithm 3). ``mask``: one buffer and a mask per member, masked samples
    counting as zeros in the mean (the authors' code)."""
    target_period: int = _setting(4, 1, traced=True)
    """Number of updates between copies of the parameters to the target network."""
    independent_target: bool = _setting(False)
    """Initialise the target network with its own random draw (the authors' code) instead of θ_0."""
    target_noise: float = _setting(0.0, 0, traced=True, absent=0)
    """Standard deviation of noise added to the reward, drawn once per stored transition and member."""
    prior_scale: float = _setting(0.0, 0, traced=True, absent=0)
    """Scale of the additive prior network; 0 means no prior, unless ``prior_std`` is set."""
    prior_std: float = _setting(0.0, 0, traced=True, absent=0)
    """Standard deviation of each member's prior over states and actions, in units of return, for any scale of the
    observations; with 0, ``prior_scale`` is used instead."""
    prior_lifetime: float = _setting(0.0, 0, traced=True, absent=0)
    """Environment steps in which the autocorrelation of the prior falls by a factor of e; 0 keeps the prior fixed."""
    prior_lifetime_growth: float = _setting(0.0, 0, traced=True)
    """Lower bound of the lifetime, as a fraction of the steps so far: longer problems need longer lifetimes."""
    prior_networks: int = _setting(8, 2, 1000)
    """Number of networks in the mixture that makes up a moving prior."""
    prior_noise: bool = _setting(False, revision=2)
    """Add Langevin noise to the prior network too, as in the authors' code."""
    epsilon: float = _setting(0.0, 0, 1, traced=True)
    """Probability of a uniformly random action; with a decay, its value in the first episode."""
    epsilon_final: float = _setting(0.0, 0, 1, traced=True)
    """Final value of a decaying ε."""
    epsilon_decay_episodes: int = _setting(0, 0, traced=True)
    """Episodes over which ε falls linearly to ``epsilon_final``; 0 keeps it constant."""
    updates_per_step: int = _setting(1, 0, traced=True)
    """Number of updates per environment step, U."""
    update_timing: str = _choice("between", "between", "within")
    """``between`` episodes (U updates for each step of the last one) or ``within`` episodes, after each step."""
    row_updates: str = _choice("auto", "auto", "dense", "lazy", old_words={"sleeping": "lazy"})
    """First layer of index observations: ``dense`` updates every row at every update, ``lazy`` updates a row
    when it is read (equal in distribution), ``auto`` is ``lazy`` on a CPU from 600 states on, where that is exact."""
    optimizer: str = _choice("adam", "adam", "sgd")
    """``adam``: Algorithm 4. ``sgd``: equation (5), as for the paper's bandits; its chain samples the posterior."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", _layers(self.hidden))
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            if isinstance(value, str) and value in setting.old_words:
                _warn_renamed(f"{name}={value}", f"{name}={setting.old_words[value]}")
                object.__setattr__(self, name, setting.old_words[value])
            setting.check(name, FIELD_TYPES[name], getattr(self, name))
        if min(self.hidden, default=1) < 1:
            raise UserError(f"hidden={self.hidden} has an empty layer", "for example, hidden=50,50")
        if self.optimizer == "sgd" and self.prior_noise:
            raise UserError("prior_noise needs optimizer=adam", "set optimizer=adam or prior_noise=false")
        if self.prior_std > 0 and (self.prior_scale > 0 or self.prior_noise):
            other = "prior_noise" if self.prior_noise else "prior_scale"
            raise UserError(f"prior_std and {other} exclude each other", f"set prior_std=0 to use {other}")
        if self.prior_lifetime > 0 and not self.prior_std > 0:
            raise UserError(
                "prior_lifetime needs a prior_std", "for example, set prior_std=0.5, or set prior_lifetime=0"
            )
        if self.recent_fraction > 0 and self.buffer_discipline == "random":
            raise UserError(
                "recent_fraction needs buffer_discipline=oldest", "set buffer_discipline=oldest or recent_fraction=0"
            )
        if self.batch_size > self.buffer_size:
            raise UserError(
                f"batch_size={self.batch_size} is larger than buffer_size={self.buffer_size}",
                f"use batch_size={self.buffer_size} or a larger buffer",
            )
        if self.min_replay_size > self.buffer_size:
            raise UserError(
                f"min_replay_size={self.min_replay_size} is larger than buffer_size={self.buffer_size}",
                "use a smaller min_replay_size or a larger buffer",
            )

    def replace(self, **changes: Any) -> "AgentConfig":
        """A copy with some fields changed; unknown names are refused with a hint."""
        return dataclasses.replace(self, **{current_name(name): value for name, value in changes.items()})

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in dataclasses.asdict(self).items()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "AgentConfig":
        """The configuration that ``to_dict`` gave, also with names and words from before; None is left out."""
        given: dict[str, Any] = {
            RENAMED.get(k, k): tuple(v) if isinstance(v, list) else v for k, v in fields.items() if v is not None
        }
        for name in given:
            if name not in FIELD_TYPES:
                raise _unknown_field(name)
        words = {
            name: SETTINGS[name].old_words.get(given[name], given[name]) for name in given.keys() & _WITH_OLD_WORDS
        }
        return cls(**given | words)

    def identity(self) -> dict[str, Any]:
        """The fields that differ from the defaults, as they count in the identity of a stored run.

        Fields at their defaults are left out, so that a field added later does not orphan every stored
        run. A default may therefore change only together with ``ALGORITHM_VERSION``.
        """
        defaults, found = AgentConfig(), {}
        for name, kind in FIELD_TYPES.items():
            value = getattr(self, name)
            if value != getattr(defaults, name):
                setting = SETTINGS.get(name, Setting())
                before = {now: old for old, now in setting.old_words.items()}
                value = before.get(value, value) if isinstance(value, str) else value
                found[setting.stored_as or name] = float(value) if kind is float else value
                if setting.revision > 1:
                    found[f"{name}_revision"] = setting.revision
        return found


AgentConfig.__doc__ = DocWithFields(AgentConfig.__doc__)  # type: ignore[assignment]


_MOST_LAYERS, _MOST_UNITS = 100, 10_000


def _layers(hidden: Any) -> tuple[int, ...]:
    """The units of hidden layers as a tuple, from any sequence of whole numbers."""
    hint = "for example, hidden=(50, 50)"
    if isinstance(hidden, (str, bytes)) or not isinstance(hidden, Iterable):
        raise UserError(f"hidden={hidden!r} has the wrong type", hint)
    layers = tuple(hidden)
    if any(isinstance(units, bool) or not isinstance(units, numbers.Integral) for units in layers):
        raise UserError(f"hidden={hidden!r} has the wrong type", hint)
    if len(layers) > _MOST_LAYERS or max(layers, default=0) > _MOST_UNITS:
        raise UserError(
            "hidden is out of range", f"use at most {_MOST_LAYERS} layers of at most {_MOST_UNITS:,} units each"
        )
    return tuple(int(units) for units in layers)


def _unknown_field(name: str) -> UserError:
    error = unknown("field", name, FIELD_TYPES, "langevin-dqn list --fields shows all fields")
    return UserError(error.message, hint_for(name) or error.hint)


#: Field names and types, in order.
FIELD_TYPES: dict[str, Any] = get_type_hints(AgentConfig)

#: What is declared of each field.
SETTINGS: dict[str, Setting] = {
    f.name: f.metadata["setting"] for f in dataclasses.fields(AgentConfig) if "setting" in f.metadata
}

_WITH_OLD_WORDS = {name for name, setting in SETTINGS.items() if setting.old_words}
#: Old names of fields, as stored runs may have them, and the names of now.
RENAMED: dict[str, str] = {setting.stored_as: name for name, setting in SETTINGS.items() if setting.stored_as}


def current_name(name: str) -> str:
    """A field's name, where an old one is still understood; unknown names are refused with a hint."""
    if name in RENAMED:
        _warn_renamed(name, RENAMED[name])
        return RENAMED[name]
    if name not in FIELD_TYPES:
        raise _unknown_field(name)
    return name


def _warn_renamed(old: str, new: str) -> None:
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=4)


def parse_assignment(text: str) -> tuple[str, Any]:
    """``noise_variance=1e-5`` as a field's name and its value, typed as the field is."""
    given, value = split_assignment(text)
    kind = FIELD_TYPES[name := current_name(given)]
    try:
        if kind is bool:
            return name, {"true": True, "false": False}[value.lower()]
        if kind in (int, float, str):
            return name, kind(value)
        return name, tuple(int(v) for v in value.split(",")) if value else ()
    except (ValueError, KeyError):
        wanted = _NOUNS.get(kind, "whole numbers, as in 50,50")
        raise UserError(f"{name}={value} cannot be read", f"{name} takes {wanted}") from None


def split_assignment(text: str) -> tuple[str, str]:
    """``field=value`` as its two parts."""
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise UserError(f"{text!r} is not of the form field=value", "for example, members=10")
    return name, value
