r"""Langevin Adam for a lookup table whose rows are updated lazily, only when they are read.

With index observations a minibatch gives a gradient to at most 128 rows of the first
layer; at depth 50 the other 2,400 only decay and diffuse. For $\lambda = 0$ their
path under Algorithm 4 is known in closed form, so a row is updated only when it is read.

**One row without gradient.** Let the row's last gradient have come at update $g$, leaving
moments $m, v$, with $s=\sqrt v$. At any later update $k$ Algorithm 4 does

$$
\theta_k = \theta_{k-1}
    - \alpha_k \frac{\beta_1^{k-g} m}{\beta_2^{(k-g)/2} s + \epsilon}
    + \sqrt{c_k\, r_k}\; z_k, \qquad
r_k = \frac{1}{\beta_2^{(k-g)/2} s+\epsilon}, \quad c_k = \frac{2\alpha_k\sigma_w^2}{|D_k|}
$$

($k = g$ included), and the $z_k$ are independent. So from time $w$ to
$b$ the row moves by a known drift plus **one** Gaussian of variance
$\sum_{k=w+1}^{b} c_k r_k$: equal in law to the dense steps, jointly over every
time at which the row is read.

**The sums.** $r_k$ changes by 0.05% a step, so over at most ``MAX_INTERVAL`` steps

* the variance is $C\cdot\tfrac12(r_{k_1} + r_{k_2})$ with $C=\sum c_k$, a
  difference of running sums and so exact for any $\alpha_k$ and $|D_k|$, at
  two nodes $k_{1,2} = \hat k \mp \sqrt{(n^2-1)/12}$ around the mean $\hat k =
  \sum k c_k/C$ (for equal weights, Gauss's rule: exact for cubics), $n = b - w$;
* the drift is $m\,\alpha_{\bar k}\,r_{\bar k}\sum\beta_1^{k-g}$ at the mean
  $\bar k$ of the geometric weights.

In the first ``WARM_UP`` updates $\alpha_k$ changes too fast for that, and every row is
brought up to date at every step. Later all rows are brought up to date ("flushed") every
``MAX_INTERVAL`` updates.

**The target network** sees each row as of the last copy, time $q$. A row that is read
after it is brought to $q$ first, which gives its target value, then to now.

**Bookkeeping.** A gradient at update $k$ only changes the moments; its drift and
noise are the first term of the next interval ($k=g$ above). Times count from the last
flush. Draws are functions of (key, row), so a row that occurs twice in a minibatch gets the
same value.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn import prng
from langevin_dqn.optimizers.noise_scale import step_noise_variance

MAX_INTERVAL = 2048
WARM_UP = 256
#: Updates whose noise can be added to the sums at once.
MAX_BLOCK = 8


class Constants(NamedTuple):
    """The numbers of Algorithm 4 that rows need."""

    learning_rate: jax.Array
    b1: jax.Array
    b2: jax.Array
    eps: jax.Array
    bias_correction: bool
    noisy: bool


class Rows(NamedTuple):
    """Rows of a table, or all of it: arrays lead with the rows.

    Attributes:
        time: w, the time that ``value`` is as of; shape (rows,).
        value: the parameters.
        gradient_time: g, the time that the moments are as of; shape (rows,).
        moment: m.
        root: s, the root of v.
    """

    time: jax.Array
    value: jax.Array
    gradient_time: jax.Array
    moment: jax.Array
    root: jax.Array

    @property
    def width(self) -> int:
        return self.value.shape[-1]

    def take(self, index: Any) -> "Rows":
        """Rows ``index``."""
        return jax.tree.map(lambda x: x[index], self)

    def put(self, index: Any, rows: "Rows") -> "Rows":
        """All rows, with ``index`` replaced by ``rows``; an index out of range is dropped."""
        return jax.tree.map(lambda x, new: x.at[index].set(new), self, rows)


class Table(NamedTuple):
    """All rows, and each one's value as of the last copy of the target, for rows that have been read since."""

    rows: Rows
    target: jax.Array


class Clock(NamedTuple):
    """What all rows of a table share.

    Attributes:
        epoch: updates made at the last flush.
        now: updates made since.
        sync: when the target was last copied, on the same clock; negative if before the flush.
        noise_sums: running sums of c_k and of k c_k since the flush, up to now and perhaps
            beyond; shape (times, 2).
    """

    epoch: jax.Array
    now: jax.Array
    sync: jax.Array
    noise_sums: jax.Array


def init(values: jax.Array, target: jax.Array) -> tuple[Table, Clock]:
    """A table of rows that are up to date at update 0, and its clock."""
    time, zeros = jnp.zeros(values.shape[0]), jnp.zeros_like(values)
    clock = Clock(jnp.int32(0), jnp.float32(0), jnp.float32(-1), jnp.zeros((MAX_INTERVAL + 1 + MAX_BLOCK, 2)))
    return Table(Rows(time, values, time, zeros, zeros), target), clock


def advance(constants: Constants, clock: Clock, rows: Rows, until: jax.Array, z: jax.Array | None) -> Rows:
    """Bring rows to time ``until`` with one draw ``z`` each; rows already past it stay."""
    until = jnp.maximum(until, rows.time)
    steps = until - rows.time
    first = rows.time + 1
    kept = _power(constants.b1, steps)
    # The mean of k under weights b1^k on first..until, and the sum of the weights.
    mean = first + constants.b1 / (1 - constants.b1) - steps * kept / jnp.maximum(1 - kept, 1e-6)
    weight = _power(constants.b1, first - rows.gradient_time) * (1 - kept) / (1 - constants.b1)
    alpha, eps = _step_size(constants, clock, mean)
    step = jnp.where(steps > 0, weight * alpha, 0)
    value = rows.value - step[:, None] * rows.moment / (_root_at(constants, rows, mean) + _column(eps))
    if z is not None:
        total, weighted = jnp.unstack(_noise_sums(clock, until) - _noise_sums(clock, rows.time), axis=-1)
        centre = jnp.where(total > 0, weighted / jnp.maximum(total, 1e-37), first)
        half = jnp.sqrt(jnp.maximum(steps * steps - 1, 0) / 12)
        early = _root_at(constants, rows, centre - half) + constants.eps
        late = _root_at(constants, rows, centre + half) + constants.eps
        variance = total[:, None] / 2 * (early + late) / (early * late)  # 1/early + 1/late
        value = value + jnp.sqrt(variance) * z
    return rows._replace(time=until, value=value)


def target_of(clock: Clock, rows: Rows, target: jax.Array) -> jax.Array:
    """What the target network sees of rows that are at the last copy or past it, given the table's ``target``."""
    return jnp.where((rows.time <= clock.sync)[:, None], rows.value, target)


def to_now(
    constants: Constants, clock: Clock, keys: jax.Array, rows: Rows, target: jax.Array, index: jax.Array
) -> tuple[Rows, jax.Array]:
    """Bring rows to the last copy of the target, then to now; the rows, and what the target network sees of them.

    A loop of two turns, with a key for each: the same program twice takes twice as long to compile.
    """

    def turn(number: jax.Array, carry: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, ...]:
        time, value, target = carry
        old = rows._replace(time=time, value=value)
        until = jnp.where(number == 0, clock.sync, clock.now)
        new = advance(constants, clock, old, until, draw(constants, keys[number], index, rows.width))
        return new.time, new.value, jnp.where(number == 0, target_of(clock, new, target), target)

    time, value, target = lax.fori_loop(0, 2, turn, (rows.time, rows.value, target))
    return rows._replace(time=time, value=value), target


def add_gradient(constants: Constants, clock: Clock, rows: Rows, gradient: jax.Array) -> Rows:
    """Take the gradient of update ``now + 1`` into the moments."""
    step = clock.now + 1
    elapsed = (step - rows.gradient_time)[:, None]
    moment = _power(constants.b1, elapsed) * rows.moment + (1 - constants.b1) * gradient
    square = _power(constants.b2, elapsed) * jnp.square(rows.root) + (1 - constants.b2) * jnp.square(gradient)
    return rows._replace(
        gradient_time=jnp.broadcast_to(step, rows.gradient_time.shape), moment=moment, root=jnp.sqrt(square)
    )


def add_noise(constants: Constants, clock: Clock, noise_variance: jax.Array, num_data: jax.Array, count: int) -> Clock:
    """Extend the sums by the next ``count`` updates, made with ``num_data`` transitions each."""
    times = clock.now + 1 + jnp.arange(count)
    alpha, _ = _step_size(constants, clock, times)
    c = step_noise_variance(alpha, noise_variance, num_data)
    now = clock.now.astype(jnp.int32)
    sums = clock.noise_sums[now] + jnp.cumsum(jnp.stack([c, times * c], axis=-1), axis=0)
    return clock._replace(noise_sums=lax.dynamic_update_slice_in_dim(clock.noise_sums, sums, now + 1, axis=0))


def count_update(clock: Clock) -> Clock:
    """Count one update."""
    return clock._replace(now=clock.now + 1)


def updates_until_flush(clock: Clock) -> jax.Array:
    """Updates until a flush is due; the sums are accurate up to there."""
    longest = jnp.where(clock.epoch < WARM_UP, 1, MAX_INTERVAL)
    return longest - clock.now.astype(jnp.int32)


def flush(constants: Constants, clock: Clock, key: jax.Array, table: Table) -> tuple[Table, Clock]:
    """Bring every row up to date and restart the clock."""
    every_row = jnp.arange(table.target.shape[0])
    rows, target = to_now(constants, clock, jax.random.split(key), table.rows, table.target, every_row)
    elapsed = (clock.now - rows.gradient_time)[:, None]
    rows = rows._replace(
        time=jnp.zeros_like(rows.time),
        gradient_time=jnp.zeros_like(rows.time),
        moment=_power(constants.b1, elapsed) * rows.moment,
        root=_power(constants.b2, elapsed / 2) * rows.root,
    )
    fresh = Clock(
        epoch=clock.epoch + clock.now.astype(jnp.int32),
        now=jnp.zeros_like(clock.now),
        sync=clock.sync - clock.now,
        noise_sums=jnp.zeros_like(clock.noise_sums),
    )
    return Table(rows, target), fresh


def draw(constants: Constants, key: jax.Array, index: jax.Array, width: int) -> jax.Array | None:
    """One standard normal per element, a function of the key and the row; None without noise."""
    if not constants.noisy:
        return None
    counter = index.astype(jnp.uint32)[:, None] * np.uint32(width) + lax.iota(jnp.uint32, width)
    return prng.normal_from_bits(prng.mix(counter, prng.key_words(key)))


def _step_size(constants: Constants, clock: Clock, time: jax.Array) -> tuple[jax.Array, jax.Array]:
    """α_k, and the ε that the drift sees: bias correction of v is the same as a smaller ε."""
    k = clock.epoch.astype(jnp.float32) + time
    root = jnp.sqrt(1 - _power(constants.b2, k))
    alpha = constants.learning_rate * root / (1 - _power(constants.b1, k))
    return alpha, constants.eps * root if constants.bias_correction else constants.eps


def _root_at(constants: Constants, rows: Rows, time: jax.Array) -> jax.Array:
    return _power(constants.b2, (time - rows.gradient_time) / 2)[:, None] * rows.root


def _column(x: jax.Array) -> jax.Array:
    return x[:, None] if x.ndim else x


def _power(base: jax.Array, exponent: jax.Array) -> jax.Array:
    """Base ** exponent through exp, several times faster than pow; exact 1 at exponent 0."""
    return jnp.exp(jnp.log(jnp.maximum(base, 1e-30)) * exponent)


def _noise_sums(clock: Clock, time: jax.Array) -> jax.Array:
    return clock.noise_sums[jnp.maximum(time, 0).astype(jnp.int32)]
