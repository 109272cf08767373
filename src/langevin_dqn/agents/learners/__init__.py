"""How a set of updates is carried out: densely, or with rows that are updated when they are read."""

from typing import Literal, NamedTuple

import jax

from langevin_dqn.agents.learners.dense import DenseLearner, DenseState
from langevin_dqn.agents.learners.lazy import LazyLearner
from langevin_dqn.agents.learners.lazy_state import LazyState
from langevin_dqn.agents.update import Problem
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments.base import ArraySpace, IndexSpace, Space
from langevin_dqn.errors import UserError
from langevin_dqn.networks import Network
from langevin_dqn.networks.base import has_rows
from langevin_dqn.optimizers import lazy_rows

__all__ = ["DenseLearner", "DenseState", "LazyLearner", "LazyState", "LearnerChoice", "choose_learner"]

#: Rows from which lazy rows are faster: a dense update grows by 0.22 µs a row, a lazy one hardly at all.
LAZY_FROM = 600


class LearnerChoice(NamedTuple):
    """Which learner carries out the updates; static.

    Attributes:
        kind: ``dense``, ``table`` (dense, the target kept as its values of all states) or ``lazy``.
        block: updates that the lazy learner carries out together.
    """

    kind: Literal["dense", "table", "lazy"]
    block: int = 1

    def build(self, problem: Problem) -> DenseLearner | LazyLearner:
        if self.kind == "lazy":
            return LazyLearner(problem, self.block)
        return DenseLearner(problem, tabulates=self.kind == "table")


def choose_learner(config: AgentConfig, network: Network, space: Space | None) -> LearnerChoice:
    """The learner for a configuration, by fixed thresholds that were measured.

    Lazy rows are exact without a regulariser, for a first layer that is a table. They were measured on CPUs; on an
    accelerator they are used only where the configuration asks for them. A table of target
    values pays where it has no more states than there are samples between two copies of the target.
    """
    is_table = has_rows(network) and not isinstance(space, ArraySpace)
    needed = {
        "observations that are indices": is_table,
        "regularizer=0": config.regularizer == 0,
        "prior_noise=false": not config.prior_noise,
        "optimizer=adam": config.optimizer == "adam",
        "a hidden layer, or value_scaling=fixed": config.value_scaling == "fixed" or len(config.hidden) > 0,
    }
    exact = all(needed.values())
    if config.row_updates == "lazy" and not exact:
        missing = next(need for need, given in needed.items() if not given)
        raise UserError(f"row_updates=lazy needs {missing}", "use row_updates=dense")
    many = isinstance(space, IndexSpace) and space.n >= LAZY_FROM and jax.default_backend() == "cpu"
    if config.row_updates == "lazy" or (config.row_updates == "auto" and exact and many):
        return LearnerChoice("lazy", min(config.target_period, lazy_rows.MAX_BLOCK))
    few = isinstance(space, IndexSpace) and space.n <= config.target_period * config.batch_size
    return LearnerChoice("table" if few and has_rows(network) else "dense")
