"""Other systems, each wrapped to do nothing but updates, so their cost can be timed.

Every peer learns on a full replay of random deep sea episodes with two hidden
layers of 50, batches of 128, Adam, and a target network refreshed every fourth
update.  Importing this package loads none of the systems: a peer imports what it
needs when it is built, and `installed` tells which ones can be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from langevin_dqn.bench.peers import bsuite_boot_dqn, onehot_jax_dqn, torch_vmap
from langevin_dqn.bench.peers.settings import MEMBERS

__all__ = ["PEERS", "Peer", "installed"]


@dataclass(frozen=True)
class Peer:
    """A system to compare with."""

    name: str
    members: int
    """How many member updates one update makes."""
    requires: tuple[str, ...]
    """Modules that have to be importable before `build` is called."""
    build: Callable[[int], Callable[[int], None]]
    """`build(depth)` gives a warmed-up `run`; `run(n)` makes `n` updates and blocks
    until they are finished."""


PEERS: tuple[Peer, ...] = (
    Peer(
        name="bsuite Boot DQN (JAX)",
        members=MEMBERS,
        requires=("bsuite", "dm_env", "haiku", "jax", "optax", "rlax"),
        build=bsuite_boot_dqn.build,
    ),
    Peer(
        name="ensemble DQN (torch vmap)",
        members=MEMBERS,
        requires=("torch",),
        build=torch_vmap.build,
    ),
    Peer(
        name="one-hot DQN (jitted JAX)",
        members=1,
        requires=("jax", "optax"),
        build=onehot_jax_dqn.build,
    ),
)


def installed() -> tuple[Peer, ...]:
    """Return the peers whose required modules can all be found."""
    return tuple(peer for peer in PEERS if all(find_spec(module) is not None for module in peer.requires))
