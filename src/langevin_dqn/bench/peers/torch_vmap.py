"""An ensemble of DQNs with frozen additive priors in torch, vectorised by vmap.

The members' parameters are stacked, one vmapped function gives all their losses on
a shared batch, one backward pass differentiates their sum, and one fused Adam steps
the stack.  Observations are dense one-hot rows of a preallocated float tensor.
Building it restricts torch to one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from langevin_dqn.bench.peers.deep_sea_replay import ACTIONS, random_transitions
from langevin_dqn.bench.peers.settings import (
    DISCOUNT,
    LEARNING_RATE,
    MEMBERS,
    PRIOR_SCALE,
    TARGET_PERIOD,
)

if TYPE_CHECKING:
    from torch import Tensor, nn


def _network(inputs: int, hidden: int) -> nn.Sequential:
    import torch
    from torch import nn

    class Dense(nn.Module):
        """A linear layer with its weight as [inputs, outputs], the layout its gradient arrives in under vmap."""

        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            bound = inputs**-0.5
            self.weight = nn.Parameter(torch.empty(inputs, outputs).uniform_(-bound, bound))
            self.bias = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))

        def forward(self, x: Tensor) -> Tensor:
            return x @ self.weight + self.bias

    return nn.Sequential(Dense(inputs, hidden), nn.ReLU(), Dense(hidden, hidden), nn.ReLU(), Dense(hidden, ACTIONS))


def build(
    depth: int,
    *,
    batch_size: int = 128,
    hidden: int = 50,
    replay_capacity: int = 10_000,
    seed: int = 0,
) -> Callable[[int], None]:
    """Fill the replay and return a function that makes `n` updates."""
    import torch
    from torch.func import functional_call, stack_module_state, vmap

    torch.set_num_threads(1)
    replay = [torch.from_numpy(column) for column in random_transitions(depth, replay_capacity, seed)]
    batches = torch.Generator().manual_seed(seed)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        nets = [_network(depth * depth, hidden) for _ in range(2 * MEMBERS)]
    skeleton = _network(depth * depth, hidden).to("meta")
    online, _ = stack_module_state(nets[:MEMBERS])
    prior, _ = stack_module_state(nets[MEMBERS:])
    prior = {name: value.detach() for name, value in prior.items()}
    target = {name: value.detach().clone() for name, value in online.items()}
    optimizer = torch.optim.Adam(online.values(), lr=LEARNING_RATE, fused=True)

    def q_values(params: dict[str, Tensor], prior: dict[str, Tensor], observation: Tensor) -> Tensor:
        trained: Tensor = functional_call(skeleton, params, (observation,))
        fixed: Tensor = functional_call(skeleton, prior, (observation,))
        return trained + PRIOR_SCALE * fixed

    def member_loss(
        online: dict[str, Tensor],
        target: dict[str, Tensor],
        prior: dict[str, Tensor],
        batch: list[Tensor],
    ) -> Tensor:
        observation, action, reward, discount, next_observation = batch
        with torch.no_grad():
            best = q_values(target, prior, next_observation).amax(-1)
            goal = reward + DISCOUNT * discount * best
        chosen = q_values(online, prior, observation).gather(-1, action[:, None])
        return (chosen.squeeze(-1) - goal).square().mean()

    ensemble_loss = vmap(member_loss, in_dims=(0, 0, 0, None))
    updates = 0

    def run(n: int) -> None:
        nonlocal updates
        for _ in range(n):
            rows = torch.randint(replay_capacity, (batch_size,), generator=batches)
            batch = [column.index_select(0, rows) for column in replay]
            optimizer.zero_grad()
            ensemble_loss(online, target, prior, batch).sum().backward()
            optimizer.step()
            updates += 1
            if updates % TARGET_PERIOD == 0:
                with torch.no_grad():
                    for name, value in online.items():
                        target[name].copy_(value)

    run(2 * TARGET_PERIOD)
    return run
