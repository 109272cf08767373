"""The environments that come with the package, by name: a factory whose keyword arguments are the settings."""

from collections.abc import Callable

from langevin_dqn.environments.bandits.contextual_bandit import contextual_bandit
from langevin_dqn.environments.bandits.gaussian_bandit import gaussian_bandit, linear_bandit
from langevin_dqn.environments.base import Environment
from langevin_dqn.environments.bsuite.bandit import bandit
from langevin_dqn.environments.bsuite.cartpole import cartpole, cartpole_swingup
from langevin_dqn.environments.bsuite.catch import catch
from langevin_dqn.environments.bsuite.deep_sea import deep_sea, deep_sea_stochastic
from langevin_dqn.environments.bsuite.discounting_chain import discounting_chain
from langevin_dqn.environments.bsuite.memory_chain import memory_len, memory_size
from langevin_dqn.environments.bsuite.mnist import mnist
from langevin_dqn.environments.bsuite.mountain_car import mountain_car
from langevin_dqn.environments.bsuite.umbrella_chain import umbrella_distract, umbrella_length
from langevin_dqn.environments.bsuite.wrappers import noisy, scaled
from langevin_dqn.environments.probes import PROBES, probe

_TASKS = {
    "value": "one state, one action",
    "state": "two states whose values differ",
    "bootstrap": "a reward one step later",
    "action": "two actions whose values differ",
    "policy": "the right action depends on the state",
}


def _probe_factory(task: str) -> Callable[..., Environment]:
    def factory():
        return probe(task)

    factory.__doc__ = f"A probe of learning algorithms: {_TASKS[task]}."
    return factory


BUILT_IN: dict[str, Callable[..., Environment]] = {
    "bandit": bandit,
    "bandit_noise": noisy(bandit),
    "bandit_scale": scaled(bandit),
    "cartpole": cartpole,
    "cartpole_noise": noisy(cartpole),
    "cartpole_scale": scaled(cartpole),
    "cartpole_swingup": cartpole_swingup,
    "catch": catch,
    "catch_noise": noisy(catch),
    "catch_scale": scaled(catch),
    "contextual_bandit": contextual_bandit,
    "deep_sea": deep_sea,
    "deep_sea_stochastic": deep_sea_stochastic,
    "discounting_chain": discounting_chain,
    "gaussian_bandit": gaussian_bandit,
    "linear_bandit": linear_bandit,
    "memory_len": memory_len,
    "memory_size": memory_size,
    "mnist": mnist,
    "mnist_noise": noisy(mnist),
    "mnist_scale": scaled(mnist),
    "mountain_car": mountain_car,
    "mountain_car_noise": noisy(mountain_car),
    "mountain_car_scale": scaled(mountain_car),
    "umbrella_distract": umbrella_distract,
    "umbrella_length": umbrella_length,
    **{f"probe_{task}": _probe_factory(task) for task in PROBES},
}
