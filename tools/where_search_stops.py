"""How far an ensemble has explored a Deep Sea, and its values of cells that were never visited.

    python tools/where_search_stops.py --depth 50 --set noise_variance=1e-6

The frontier are the actions in visited cells that lead to a cell which was never visited. After every ``--every``
episodes, a line shows

- ``cells``: fraction of the reachable cells that were visited;
- ``diagonal``: visited cells of the path to the treasure, from the top;
- ``new``: episodes since the last line that visited a cell for the first time;
- ``frontier``: number of its actions, and how many of them are preferred by at least one member;
- ``next``: members that prefer the action which continues the visited diagonal;
- ``unvisited``: best value of a cell that was never visited, mean over cells and members;
- ``start``: best value of the first cell, mean over members; its true value is 0 until the treasure is found;
- ``error``: root mean square of r + max Q(s') - Q(s, a), over the actions in the buffer, each counted once.
"""

import argparse
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import keys, machine
from langevin_dqn.agents import ValueAgent, ValueState, make_agent
from langevin_dqn.cli.arguments import filled
from langevin_dqn.config import parse_assignment
from langevin_dqn.environments.bsuite.deep_sea import deep_sea
from langevin_dqn.loops import compiled
from langevin_dqn.presets import preset

_NEVER = np.iinfo(np.int32).max


@jax.jit
def all_values(agent: ValueAgent, key: jax.Array, state: ValueState, cells: jax.Array) -> jax.Array:
    """Q of every member at every cell as of now: (cells, members, actions)."""
    return jax.vmap(lambda cell: agent.ensemble_values(state, cell, jax.random.fold_in(key, cell)))(cells)


@dataclasses.dataclass(frozen=True)
class Moves:
    """What the buffer holds, each move (cell, action) once: cells are rows of a table of values."""

    cell: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    below: np.ndarray

    @classmethod
    def of(cls, data, size: int) -> "Moves":
        cell, action, reward, below = (
            np.asarray(x[0])[:size] for x in (data.obs, data.action, data.reward, data.next_obs)
        )
        _, once = np.unique(np.stack([cell, action]), axis=1, return_index=True)
        return cls(cell[once], action[once], reward[once], below[once])

    def error(self, q: np.ndarray) -> float:
        best = np.append(q.max(-1), np.zeros((1, q.shape[1])), axis=0)  # after the last row nothing comes
        wrong = self.reward[:, None] + best[np.minimum(self.below, len(q))] - q[self.cell, :, self.action]
        return float(np.sqrt(np.square(wrong).mean()))


def gains_at_frontier(q: np.ndarray, visited: np.ndarray, mapping: np.ndarray) -> np.ndarray:
    """By how much each member prefers each action of the frontier: (actions, members)."""
    depth = len(visited)
    values = q.reshape(depth, depth, -1, 2)
    right = np.take_along_axis(values, mapping[:, :, None, None], 3)[..., 0]
    gain = 2 * right - values.sum(-1)  # of right over left
    column = np.arange(depth)
    unseen = ~visited[1:]
    through_right = visited[:-1] & unseen[:, np.minimum(column + 1, depth - 1)]
    through_left = visited[:-1] & unseen[:, np.maximum(column - 1, 0)]
    return np.concatenate([gain[:-1][through_right], -gain[:-1][through_left]])


def gain_on_diagonal(q: np.ndarray, end: int, mapping: np.ndarray) -> np.ndarray:
    """By how much each member prefers to continue the diagonal from its last visited cell."""
    depth, last = len(mapping), end - 1
    right = mapping[last, last]
    values = q[last * depth + last]
    return values[:, right] - values[:, 1 - right]


def main() -> None:
    parser = argparse.ArgumentParser(description=filled(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="ensemble_langevin_dqn", help="name of the agent (%(default)s)")
    parser.add_argument("--preset", default="paper", help="preset of the agent (%(default)s)")
    parser.add_argument("--depth", type=int, default=50, help="depth of Deep Sea (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (%(default)s)")
    parser.add_argument("--episodes", type=int, default=5000, help="maximum number of episodes (%(default)s)")
    parser.add_argument("--every", type=int, default=250, help="episodes between lines (%(default)s)")
    parser.add_argument("--set", nargs="*", default=[], metavar="FIELD=VALUE", help="settings to change")
    args = parser.parse_args()
    machine.prepare()
    config = preset(args.agent, args.preset, **dict(map(parse_assignment, args.set)))
    depth, sea = args.depth, deep_sea(args.depth)
    if config.insertion_probability < 1 or config.buffer_size % depth or config.buffer_size < args.every * depth:
        raise SystemExit("the buffer must take every step, and hold the steps of --every episodes")
    agent = make_agent(config, space=sea.observation_space)
    key = keys.run_key(args.seed)
    mapping = np.asarray(sea.action_mapping)
    reachable = np.tril(np.ones((depth, depth), bool))
    visited = np.zeros((depth, depth), bool)
    carry = compiled.begin(agent, sea, key, args.episodes)
    print(f"{args.agent}, {args.preset}, depth {depth}, seed {args.seed}{', ' * bool(args.set)}{' '.join(args.set)}")
    while (done := int(carry.episodes)) < args.episodes:
        limits = compiled.Limits(
            episodes=jnp.int32(min(done + args.every, args.episodes)),
            steps=jnp.int32(_NEVER),
            check=jnp.int32(_NEVER),
            regret_share=jnp.float32(sea.learned_regret),
        )
        carry = compiled.run_chunk(agent, sea, key, carry, limits)
        now, new = int(carry.episodes), 0
        replay = carry.state.replay
        steps = np.arange(done * depth, now * depth) % replay.capacity
        for path in np.asarray(replay.data.obs[0])[steps].reshape(-1, depth):
            new += not visited.flat[path].all()
            visited.flat[path] = True
        look = jax.random.fold_in(key, _NEVER)
        q = np.asarray(all_values(agent, look, carry.state, jnp.arange(depth**2)))
        frontier = gains_at_frontier(q, visited, mapping)
        end = int(np.argmin(np.append(visited.diagonal(), False)))
        prefer = "-" if end == depth else str((gain_on_diagonal(q, end, mapping) > 0).sum())
        unseen = (reachable & ~visited).ravel()
        beyond = f"{q.max(-1)[unseen].mean():+.3f}" if unseen.any() else "-"
        error = Moves.of(replay.data, int(replay.size[0])).error(q)
        found = int((np.asarray(carry.returns)[done:now] > 0.5).sum())
        print(
            f"{now:5d}  cells {visited[reachable].mean():.2f}  diagonal {end:2d}  new {new:3d}"
            f"  frontier {len(frontier):3d}, {int((frontier > 0).any(1).sum()):3d} preferred"
            f"  next {prefer}  unvisited {beyond}"
            f"  start {q[0].max(-1).mean():+.3f}  error {error:.4f}" + (f"  treasure {found} times" if found else ""),
            flush=True,
        )
        if float(carry.regret) < sea.learned_regret * now:
            print(f"learned at {now}")
            return


if __name__ == "__main__":
    main()
