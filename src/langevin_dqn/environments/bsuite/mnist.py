"""MNIST digits as a bandit: name the digit."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import prng
from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import ArraySpace, Environment
from langevin_dqn.environments.bsuite import mnist_files
from langevin_dqn.errors import UserError
from langevin_dqn.pytrees import static


class DigitState(NamedTuple):
    label: jax.Array
    right: jax.Array  # the answer was


@dataclass(frozen=True)
class Mnist(Environment):
    """One image, one answer: reward 1 if it is the image's digit, else -1, and the episode terminates on a blank.

    Pixels are bytes read as signed, as bsuite reads them: 128 and above turn negative. They
    are shown divided by 255, as one row, which is cheaper to move than a picture; ``dense``
    gives the picture.
    """

    images: jax.Array  # int8, an image a row
    labels: jax.Array
    shape: tuple[int, ...] = static()

    num_actions = 10
    max_return = 1.0
    max_steps = 1

    @property
    def observation_space(self) -> ArraySpace:
        return ArraySpace(self.images.shape[1:])

    def reset(self, key: jax.Array) -> tuple[DigitState, jax.Array]:
        number = prng.integers(key, (), jnp.int32(self.images.shape[0]))
        state = DigitState(self.labels[number], jnp.bool_(False))
        return state, over_255(self.images[number])

    def step(self, key: jax.Array, state: DigitState, action: jax.Array):
        del key
        right = action == state.label
        blank = jnp.zeros(self.images.shape[1:])
        return DigitState(state.label, right), blank, _outcome(right), jnp.bool_(True), jnp.bool_(False)

    def dense(self, obs: jax.Array) -> jax.Array:
        return obs.reshape(self.shape)

    def measure(self, state: DigitState) -> dict[str, jax.Array]:
        return {"total_regret": 1 - _outcome(state.right)}


def over_255(pixels: jax.Array) -> jax.Array:
    """The float32 nearest to each pixel / 255, without a division.

    A compiler may turn a division by a constant into a product with its rounded inverse,
    which is not the same. The inverse in two parts is: a pixel times the first, which has
    few digits, is exact.
    """
    high = np.float32(np.round(2**16 / 255) / 2**16)
    low = np.float32(1 / 255 - float(high))
    pixels = pixels.astype(jnp.float32)
    return pixels * high + pixels * low


def _outcome(right: jax.Array) -> jax.Array:
    return jnp.where(right, 1, -1).astype(jnp.float32)


def mnist(fraction: float = 1.0, folder: str = "") -> Mnist:
    """Classify the digit on an image of MNIST's training set; ``fraction`` limits it to its first part."""
    ranges.in_range("fraction", fraction, 0, 1)
    images, labels = mnist_files.load(folder)
    count = int(fraction * len(labels))
    if count == 0:
        raise UserError(f"fraction={fraction:g} selects none of the {len(labels)} images", "use a larger fraction")
    return Mnist(images[:count].reshape(count, -1), labels[:count], images.shape[1:])
