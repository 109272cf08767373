r"""Standard normals from a counter-based generator, cheap enough for every update.

A Langevin step needs one normal per parameter per update. JAX's default generator
(threefry, then ``erf_inv``) costs more than the forward and backward pass of the small
networks used here, so the noise has a generator of its own:

* **bits**: element $i$ of the stream of key $(k_0, k_1)$ is
  $F_C(A i + B)$: an odd multiplier $A$ and an offset $B$ made of the
  key, then rounds $F$ of xor-shift and multiply with a third word $C$, a hash
  of the whole key, entering half-way. Affine maps are pairwise independent, so two keys
  meet as often as two random sequences do; $C$ sees to it that they do not run on
  together. There is no state: any element of any stream can be computed by itself.
* **normals**: $z = \pm\sqrt2\,\mathrm{erf}^{-1}(x)$ with 23 bits for
  $x \in (0, 1)$ and one for the sign. With $w = -\log(1 - x^2)$, the ratio
  $z / x$ is a smooth function of $\sqrt w$; a polynomial gives it to a
  relative error of 5e-6, and a second one the logarithm.

The 64-bit key changes with every update, member and seed; it comes from JAX's own
threefry (``split`` and ``fold_in``). ``docs/notes/noise.md`` has the batteries it passed.
"""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.random import define_prng_impl

# log(1 + f) / f on [sqrt(1/2) - 1, sqrt(2) - 1], relative error 4e-7.
_LOG = (
    0.99999997, -0.50000275, 0.33334493, -0.24974676,
    0.19920599, -0.17208723, 0.16035005, -0.10007898,
)  # fmt: skip
# z / x as a polynomial in sqrt(w) - 2 for 0 <= w <= 16, relative error 5e-6
# (tools/fit_normal.py makes both tables).
_RATIO = (
    2.628698712935459, 1.2917823658439676, 0.1598515775018946, -0.10019507332055698,
    0.017724068902598714, 0.017097660550263735, -0.0073986313907026275,
    -0.002986397805958877, 0.0017143501132281897, 0.00036179783065707564,
    -0.00021824000553483406, -2.131166772584464e-05, 1.1770249373755331e-05,
)  # fmt: skip
_SQRT_HALF_BITS = np.int32(0x3F3504F3)
_MANTISSA = np.int32(0x7FFFFF)


def _finish(x: jax.Array, middle: jax.Array) -> jax.Array:
    """Three rounds of xor-shift and multiply, with a word of the key after the first."""
    x = (x ^ (x >> 16)) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> 15) ^ middle) * np.uint32(0x846CA68B)
    x = (x ^ (x >> 16)) * np.uint32(0x9E3779B1)
    return x ^ (x >> 15)


def _computed_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function``, of integers, as a call, and not into every kernel that reads its results.

    A key is a few words, and XLA's CPU compiler would repeat the chain of splits that it comes from in each kernel that
    draws with it, which makes these several times as large and compiling a sixth longer. Integers are not rounded, so
    the results are the same either way.
    """
    static = [name for name in inspect.signature(function).parameters if name == "shape"]
    compiled = jax.jit(function, static_argnames=static)

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if jax.default_backend() != "cpu":
            return function(*arguments, **named)
        with set_xla_metadata(inlineable="false"):
            return compiled(*arguments, **named)

    return call


@_computed_once
def _schedule(key: jax.Array) -> jax.Array:
    """The three words that ``mix`` makes of a key."""
    k0, k1 = key[0], key[1]
    multiplier = _finish(k0 ^ np.uint32(0x9E3779B9), k1) | np.uint32(1)
    offset = _finish(k1 + np.uint32(0x85EBCA6B), k0)
    middle = _finish(offset + np.uint32(0xC2B2AE35), multiplier ^ k0)
    return jnp.stack([multiplier, offset, middle])


def mix(counter: jax.Array, key: jax.Array) -> jax.Array:
    """32 random bits for each ``counter`` (uint32) under ``key`` (two uint32 words)."""
    multiplier, offset, middle = jnp.unstack(_schedule(key))
    return _finish(counter * multiplier + offset, middle)


def key_words(key: jax.Array) -> jax.Array:
    """The first 64 bits of a JAX key, typed or raw, as two uint32 words."""
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    return key.reshape(-1)[:2]


def bits(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Uniform 32-bit words, one stream per key."""
    counter = lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    return mix(counter, key_words(key))


def _polynomial(coefficients: tuple[float, ...], x: jax.Array) -> jax.Array:
    """Estrin's scheme: short dependency chains, which is what limits a vector unit."""
    terms: list = [np.float32(c) for c in coefficients]
    while len(terms) > 1:
        pairs = [terms[i] + terms[i + 1] * x for i in range(0, len(terms) - 1, 2)]
        terms = pairs + terms[len(pairs) * 2 :]
        x = x * x
    return terms[0]


def normal_from_bits(word: jax.Array) -> jax.Array:
    """Map uniform 32-bit words to float32 standard normals, |z| <= 5.42."""
    # 1 - x from the top 23 bits, an odd multiple of 2^-24: never 0, and exact.
    rest = (word >> 9).astype(jnp.int32).astype(jnp.float32) * np.float32(2**-23) + np.float32(2**-24)
    y = rest * (2 - rest)  # 1 - x^2
    exponent_and_mantissa = lax.bitcast_convert_type(y, jnp.int32) - _SQRT_HALF_BITS
    exponent = (exponent_and_mantissa >> 23).astype(jnp.float32)
    f = lax.bitcast_convert_type((exponent_and_mantissa & _MANTISSA) + _SQRT_HALF_BITS, jnp.float32) - 1
    w = -(_polynomial(_LOG, f) * f + exponent * np.float32(math.log(2)))
    z = _polynomial(_RATIO, jnp.sqrt(w) - 2) * (1 - rest)
    return lax.bitcast_convert_type(lax.bitcast_convert_type(z, jnp.uint32) ^ (word << 31), jnp.float32)


def normal(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """float32 standard normals; the same key always gives the same array."""
    return normal_from_bits(bits(key, shape))


def integers(key: jax.Array, shape: tuple[int, ...], upper: jax.Array) -> jax.Array:
    """Integers in [0, upper). Remainder of 32 bits: bias below ``upper / 2**32``."""
    return (bits(key, shape) % jnp.maximum(upper, 1).astype(jnp.uint32)).astype(jnp.int32)


def coins(key: jax.Array, count: int) -> jax.Array:
    """``count`` fair bits as int32, 32 of them to a word of the key's stream."""
    words = bits(key, (-(-count // 32), 1)) >> np.arange(32, dtype=np.uint32)
    return (words & 1).astype(jnp.int32).reshape(-1)[:count]


def normal_like(key: jax.Array, tree):
    """A tree of standard normals with the shapes of ``tree``, all from one key.

    The leaves take consecutive windows of one stream, so no two share an element.
    """
    leaves, treedef = jax.tree.flatten(tree)
    words = key_words(key)
    offset, normals = 0, []
    for leaf in leaves:
        counter = lax.iota(jnp.uint32, leaf.size).reshape(leaf.shape) + np.uint32(offset)
        normals.append(normal_from_bits(mix(counter, words)).astype(leaf.dtype))
        offset += leaf.size
    return jax.tree.unflatten(treedef, normals)


def _seed(seed: jax.Array) -> jax.Array:
    """A key from an integer seed: two words far from those of neighbouring seeds."""
    seed = jnp.asarray(seed)
    low = lax.convert_element_type(seed, jnp.uint32)
    high = lax.convert_element_type(seed >> 32 if seed.dtype.itemsize > 4 else 0 * seed, jnp.uint32)
    return mix(jnp.arange(2, dtype=jnp.uint32), jnp.stack([low ^ np.uint32(0x6A09E667), high ^ np.uint32(0xBB67AE85)]))


@_computed_once
def _split(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    counter = lax.iota(jnp.uint32, 2 * math.prod(shape)).reshape(*shape, 2)
    return mix(counter ^ np.uint32(0x80000000), key)  # apart from the counters of draws


@_computed_once
def _fold_in(key: jax.Array, data: Any) -> jax.Array:
    inner = mix(jnp.asarray(data, jnp.uint32) ^ np.uint32(0x40000000), key)
    return mix(
        jnp.arange(2, dtype=jnp.uint32) ^ np.uint32(0xC0000000), key ^ jnp.stack([inner, data.astype(jnp.uint32)])
    )


def _random_bits(key: jax.Array, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    count = math.prod(shape)
    words = mix(lax.iota(jnp.uint32, count * max(bit_width // 32, 1)), key)
    if bit_width == 64:
        pairs = words.reshape(count, 2).astype(jnp.uint64)
        return (pairs[:, 0] << 32 | pairs[:, 1]).reshape(shape)
    return (words >> (32 - bit_width)).astype(jnp.dtype(f"uint{bit_width}")).reshape(shape)


#: The generator as a JAX PRNG implementation: ``jax.random.key(0, impl=noise.PRNG)``.
PRNG = define_prng_impl(
    key_shape=(2,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="langevin_mix",
    tag="lmx",
)
