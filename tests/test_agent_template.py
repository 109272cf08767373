"""The common template (alg1 to alg3) against the paper's lines.

Statistical tests use fixed keys; each docstring gives its level, the chance that a correct
agent would fail under a fresh key.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import langevin_dqn
from langevin_dqn import make_agent, preset, prng
from langevin_dqn.environments import ArraySpace, IndexSpace

SPACE = IndexSpace(3)


#: Compiling, not running, is what takes time here.
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def key(seed):
    """Keys as training makes them."""
    return jax.random.key(seed, impl=prng.PRNG)


def keys(seed, count):
    return jax.random.split(key(seed), count)


def small(agent, reading="paper", **changes):
    """An agent with a small network, so that every parameter can be checked."""
    return make_agent(preset(agent, reading, **{"hidden": (5, 4), "batch_size": 8} | changes))


@partial(quick_jit, static_argnums=(2, 3))
def _begin(agent, key, space, actions):
    return agent.init(key, space, actions)


def begin(agent, seed=0, space=SPACE, actions=2):
    return _begin(agent, key(seed), space, actions)


MOST = 2000  # transitions a test may store


def fill(agent, state, space, seed, transitions):
    """A replay with these transitions, (obs, action, reward, next_obs, terminated), added in order."""
    count = len(transitions[1])
    padded = [np.pad(x, [(0, MOST - count)] + [(0, 0)] * (x.ndim - 1)) for x in transitions]
    return _fill(agent, state, space, key(seed), padded, count)


@partial(quick_jit, static_argnums=2)
def _fill(agent, state, space, key, transitions, count):
    actions = state.params[1][1][-1][1].shape[-1]

    def add(number, replay):
        transition = [x[number] for x in transitions]
        return agent.observe(jax.random.fold_in(key, number), state, replay, *transition)

    return jax.lax.fori_loop(0, count, add, agent.init_replay(space, actions, MOST))


def repeated(obs, action, reward, next_obs, terminated, times):
    """One transition ``times`` over: every minibatch is then the same."""
    one = (obs, action, reward, next_obs, terminated)
    kinds = (None, np.int32, np.float32, None, np.bool_)
    return tuple(np.stack([np.asarray(x, kind)] * times) for x, kind in zip(one, kinds, strict=True))


learn = quick_jit(lambda agent, key, state, replay: agent.learn(key, state, replay))
learn_often = quick_jit(
    lambda agent, keys, state, replay: jax.vmap(lambda k: agent.learn(k, state, replay).params)(keys)
)
act_often = quick_jit(lambda agent, keys, state, obs: jax.vmap(lambda k: agent.act(k, state, obs))(keys))


def same_bits(left, right):
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True))


def with_output_bias(state, bias):
    """All parameters 0 but the last layer's bias, (members, actions): Q is that bias."""
    zeros = jax.tree.map(jnp.zeros_like, state.params)
    rows, (first, layers) = zeros
    layers = [*layers[:-1], (layers[-1][0], jnp.broadcast_to(jnp.asarray(bias, jnp.float32), layers[-1][1].shape))]
    return state._replace(params=(rows, (first, layers)))


# Acting


def action_counts(agent, state, actions=4, draws=8000):
    return np.bincount(np.asarray(act_often(agent, keys(1, draws), state, jnp.int32(1))), minlength=actions)


def test_greedy_ties_are_uniform():
    """Four equal values: chi-square, level 1e-4."""
    agent = small("dqn", epsilon=0.0)
    assert stats.chisquare(action_counts(agent, with_output_bias(begin(agent, actions=4), 0.0))).pvalue > 1e-4


def test_only_the_best_actions_tie():
    """Two of four values share the maximum: the others never act; binomial, level 1e-4."""
    agent = small("dqn", epsilon=0.0)
    counts = action_counts(agent, with_output_bias(begin(agent, actions=4), [0.0, 2.0, 1.0, 2.0]))
    assert counts[0] == counts[2] == 0
    assert stats.binomtest(int(counts[1]), int(counts.sum())).pvalue > 1e-4


def test_epsilon_greedy_frequencies():
    """unif(A) with chance ε, the best included: chi-square against 1-ε+ε/4 and ε/4, level 1e-4."""
    agent = small("dqn", epsilon=0.3)
    state = with_output_bias(begin(agent, actions=4), [0.0, 0.0, 5.0, 1.0])
    state = agent.begin_episode(key(0), state)
    expected = 8000 * np.array([0.075, 0.075, 0.775, 0.075])
    assert stats.chisquare(action_counts(agent, state), expected).pvalue > 1e-4


def test_decaying_epsilon_ends_where_it_should():
    """ε falls from 0.5: binomial at the first and third of four episodes (level 1e-4); none after the decay."""
    agent = small("dqn", epsilon=0.5, epsilon_final=0.0, epsilon_decay_episodes=4)
    state = with_output_bias(begin(agent, actions=4), [0.0, 0.0, 5.0, 1.0])
    greedy = []
    for _ in range(6):
        state = agent.begin_episode(key(0), state)
        greedy.append(int(action_counts(agent, state)[2]))
    assert stats.binomtest(greedy[0], 8000, 1 - 0.75 * 0.5).pvalue > 1e-4
    assert stats.binomtest(greedy[2], 8000, 1 - 0.75 * 0.25).pvalue > 1e-4
    assert greedy[0] < greedy[1] < greedy[2] < greedy[3] < 8000
    assert greedy[4] == greedy[5] == 8000


def test_acting_member_is_uniform_and_acts_alone():
    """Line 9 of alg3: chi-square over members, level 1e-4; member m prefers action m, so the action tells m."""
    agent = small("ensemble_langevin_dqn", members=5, prior_scale=0.0)
    state = with_output_bias(begin(agent, actions=5), np.eye(5))

    @quick_jit
    def first_actions(state, keys):
        def one(key):
            drawn = agent.begin_episode(key, state)
            acts = [agent.act(jax.random.fold_in(key, i), drawn, jnp.int32(i)) for i in range(3)]
            return drawn.member, jnp.stack(acts)

        return jax.vmap(one)(keys)

    member, actions = map(np.asarray, first_actions(state, keys(2, 5000)))
    np.testing.assert_array_equal(actions, np.repeat(member[:, None], 3, axis=1))
    assert stats.chisquare(np.bincount(member, minlength=5)).pvalue > 1e-4


# Storing


def inserted(agent, seed, count):
    """(count, members): whether each of ``count`` observed transitions reached each member's buffer."""
    state = begin(agent)
    replay = agent.init_replay(SPACE, 2)

    @quick_jit
    def sizes(keys):
        def one(key):
            return agent.observe(
                key, state, replay, jnp.int32(0), jnp.int32(1), jnp.float32(1), jnp.int32(1), jnp.bool_(False)
            ).size

        return jax.vmap(one)(keys)

    return np.asarray(sizes(keys(seed, count)))


def test_insertion_probability_per_member():
    """Bernoulli(p) for each member by itself: binomial per member and pair, level 1e-4 for each of 16."""
    got = inserted(small("boot_dqn", members=5, insertion_probability=0.3), seed=3, count=4000)
    assert got.shape == (4000, 5)
    for k in range(5):
        assert stats.binomtest(int(got[:, k].sum()), 4000, 0.3).pvalue > 1e-4
        for other in range(k):
            both = int((got[:, k] & got[:, other]).sum())
            assert stats.binomtest(both, 4000, 0.09).pvalue > 1e-4


def test_every_transition_is_inserted_with_probability_one():
    assert (inserted(small("ensemble_langevin_dqn", members=3), seed=4, count=50) == 1).all()


def test_masked_insertion_is_bernoulli_too():
    """The released reading: one buffer holding all, a mask per member; binomial per member, level 1e-4."""
    agent = small("boot_dqn", "released", members=3, insertion_probability=0.3)
    replay = fill(agent, begin(agent), SPACE, 5, repeated(np.int32(0), 1, 1, np.int32(1), False, 2000))
    assert replay.size.tolist() == [2000]
    mask = np.asarray(replay.data.mask)[0, :2000]
    assert mask.shape == (2000, 3)
    for k in range(3):
        assert stats.binomtest(int(mask[:, k].sum()), 2000, 0.3).pvalue > 1e-4


def numbered(count):
    """Transitions told apart by their reward."""
    zeros = np.zeros(count, np.int32)
    return zeros, zeros, np.arange(count, dtype=np.float32), zeros, np.zeros(count, bool)


def test_oldest_out():
    agent = small("dqn", buffer_size=8)
    replay = fill(agent, begin(agent), SPACE, 0, numbered(21))
    assert replay.size.tolist() == [8]
    assert sorted(np.asarray(replay.data.reward[0]).tolist()) == list(range(13, 21))


def test_each_members_buffer_is_without_gaps():
    """With p = ½ each buffer holds, in order and side by side, what its member was given."""
    agent = small("boot_dqn", members=2)
    replay = fill(agent, begin(agent), SPACE, 0, numbered(40))
    held = [np.asarray(replay.data.reward[m, : replay.size[m]]) for m in range(2)]
    for rewards in held:
        assert 8 < len(rewards) < 32
        assert (np.diff(rewards) > 0).all()
    assert not np.array_equal(*held)


def test_random_out():
    """The newest stays; each transition survives each later one with chance 1-1/8. z < 5 for each, level 1e-5."""
    agent, trials = small("dqn", buffer_size=8, buffer_discipline="random"), 2000
    state = begin(agent)
    held = jax.vmap(lambda seed: fill(agent, state, SPACE, seed, numbered(21)).data.reward[0])(jnp.arange(trials))
    held = np.asarray(held).astype(int)
    assert all(len(set(row)) == 8 for row in held)
    survived = np.bincount(held.ravel(), minlength=21)
    chance = (1 - 1 / 8) ** np.minimum(13, 20 - np.arange(21))
    error = np.sqrt(trials * chance * (1 - chance)) + 1e-9
    assert (np.abs(survived - trials * chance) < 5 * error).all()


# Learning: one update against NumPy


def network(params, x, slope):
    """The MLP in float64, one observation."""
    rows, (bias, layers) = params
    h = x.ravel() @ rows + bias
    for w, b in layers:
        h = np.where(h >= 0, h, slope * h) @ w + b
    return h


def member_of(tree, m):
    return jax.tree.map(lambda x: np.asarray(x[m], np.float64), tree)


def slopes(loss, params):
    """Central differences of ``loss`` in every parameter, flat."""
    leaves, treedef = jax.tree.flatten(params)
    flat = np.concatenate([x.ravel() for x in leaves])

    def rebuild(vector):
        parts = np.split(vector, np.cumsum([x.size for x in leaves])[:-1])
        return jax.tree.unflatten(treedef, [p.reshape(x.shape) for p, x in zip(parts, leaves, strict=True)])

    step = 1e-6 * np.eye(flat.size)
    return np.array([(loss(rebuild(flat + e)) - loss(rebuild(flat - e))) / 2e-6 for e in step])


def flat_of(tree):
    return np.concatenate([np.asarray(x, np.float64).ravel() for x in jax.tree.leaves(tree)])


def first_step(gradient, config):
    """alg4's first step without noise."""
    alpha = config.learning_rate * np.sqrt(1 - config.adam_b2) / (1 - config.adam_b1)
    m, v = (1 - config.adam_b1) * gradient, (1 - config.adam_b2) * gradient**2
    return -alpha * m / (np.sqrt(v) + config.adam_eps)


def td_slopes(transition, theta, target, prior, config):
    """Gradient of the squared TD error of one transition; the paper's appendix has no ½."""
    obs, action, reward, next_obs, terminated = transition

    def q(params, x):
        own = network(params, x, config.negative_slope)
        return own + (config.prior_scale * network(prior, x, config.negative_slope) if config.prior_scale else 0)

    bootstrap = 0.0 if terminated else config.discount * q(target, next_obs).max()
    return slopes(lambda p: config.loss_scale * (reward + bootstrap - q(p, obs)[action]) ** 2, theta)


PICTURES = ArraySpace((2, 3))
CASES = {
    "dqn": {"discount": 0.9},
    "boot_dqn": {
        "members": 2, "insertion_probability": 1.0, "discount": 0.8, "loss_scale": 0.5, "negative_slope": 0.1,
    },
}  # fmt: skip


def two_transitions():
    """One that goes on and one that ends; the ends' next observation is not zero."""
    rng = np.random.default_rng(0)
    obs, after = rng.normal(size=(2, 2, 2, 3)).astype(np.float32)
    return obs, np.array([0, 2], np.int32), np.array([0.7, -1.3], np.float32), after, np.array([False, True])


@pytest.fixture(scope="module", params=CASES)
def one_update(request):
    """Many single updates from one state, each with its own minibatch of two transitions."""
    config = preset(request.param, hidden=(5, 4), batch_size=8, adam_eps=1.0, learning_rate=0.5).replace(
        **CASES[request.param]
    )
    agent = make_agent(config)
    state = begin(agent, seed=0, space=PICTURES, actions=3)
    # Random biases keep units alive, and off the kink of ReLU, where a difference quotient is no guide.
    shift = partial(_shifted, np.random.default_rng(1))
    other = begin(agent, seed=1, space=PICTURES, actions=3)
    state = state._replace(params=shift(state.params), target=shift(other.params), prior=shift(state.prior))
    transitions = two_transitions()
    replay = fill(agent, state, PICTURES, 0, transitions)
    after = learn_often(agent, keys(6, 400), state, replay)
    candidates = []
    for m in range(config.members):
        theta, target = member_of(state.params, m), member_of(state.target, m)
        prior = member_of(state.prior, m) if config.prior_scale else None
        gradients = [td_slopes([x[i] for x in transitions], theta, target, prior, config) for i in range(2)]
        mixtures = [(k * gradients[0] + (8 - k) * gradients[1]) / 8 for k in range(9)]
        candidates.append(np.array([flat_of(theta) + first_step(g, config) for g in mixtures]))
    moved = [
        np.array([flat_of(jax.tree.map(lambda x, i=i, m=m: x[i, m], after)) for i in range(400)])
        for m in range(config.members)
    ]
    return candidates, moved


def _shifted(rng, tree):
    return jax.tree.map(lambda x: x + rng.normal(0, 0.3, x.shape).astype(np.float32), tree)


def batch_counts(candidates, moved):
    """How often each update met the first transition, by its nearest candidate, and that distance."""
    distance = np.abs(moved[:, None] - candidates[None]).max(axis=2)
    return distance.argmin(axis=1), distance.min(axis=1)


def test_one_update_is_alg2(one_update):
    """Every parameter moves as NumPy says: TD target from target network and prior, γ, no bootstrap at the end."""
    for candidates, moved in zip(*one_update, strict=True):
        apart = min(np.abs(a - b).max() for i, a in enumerate(candidates) for b in candidates[:i])
        _, distance = batch_counts(candidates, moved)
        assert distance.max() < 5e-6
        assert apart > 1e-4, "the nine possible minibatches must be told apart"


def test_minibatches_are_uniform_with_replacement(one_update):
    """Binomial(8, ½) of the first transition: chi-square, level 1e-4 per member."""
    expected = 400 * stats.binom.pmf(np.arange(9), 8, 0.5)
    lump = np.array([0, 0, 0, 1, 2, 3, 4, 4, 4])
    for candidates, moved in zip(*one_update, strict=True):
        which, _ = batch_counts(candidates, moved)
        counts = np.bincount(lump[which], minlength=5)
        assert stats.chisquare(counts, np.bincount(lump, expected)).pvalue > 1e-4


@pytest.mark.parametrize("one_update", ["boot_dqn"], indirect=True)
def test_members_draw_their_own_minibatches(one_update):
    """Uncorrelated counts, |r| < 0.25 = 5/√400. Level 6e-7."""
    candidates, moved = one_update
    first, second = (batch_counts(c, m)[0] for c, m in zip(candidates, moved, strict=True))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.25


def test_q_values_include_the_prior():
    agent = small("ensemble_langevin_dqn", members=3, hidden=(20, 20))
    state = begin(agent, space=PICTURES, actions=3)
    obs = two_transitions()[0][0]
    got = np.asarray(agent.q_values(state, jnp.asarray(obs)))
    assert got.shape == (3, 3)
    for m in range(3):
        own, prior = (network(member_of(p, m), obs, 0.0) for p in (state.params, state.prior))
        np.testing.assert_allclose(got[m], own + 3 * prior, rtol=1e-4, atol=1e-5)
        assert np.abs(prior).max() > 1e-3


def test_index_observations_equal_their_pictures():
    """A row lookup and the product with the one-hot picture give one value."""
    agent = small("langevin_dqn")
    state = begin(agent, space=IndexSpace(6))
    for index in range(6):
        picture = np.eye(6, dtype=np.float32)[index].reshape(2, 3)
        np.testing.assert_allclose(
            agent.q_values(state, jnp.int32(index)), agent.q_values(state, jnp.asarray(picture)), rtol=1e-5, atol=1e-6
        )


# Learning: the noise


@pytest.fixture(scope="module")
def noisy_updates():
    """4,000 first updates of two members with unlike buffers, each buffer holding one transition many times."""
    config = preset("ensemble_langevin_dqn", hidden=(5, 4), batch_size=8, members=2).replace(
        noise_variance=0.5,
        regularizer=40.0,
        adam_eps=1.0,
        learning_rate=0.5,
        insertion_probability=0.5,
        prior_scale=0.0,
    )
    agent = make_agent(config)
    state = begin(agent)
    transition = (np.int32(1), 0, 0.7, np.int32(2), True)
    replay = fill(agent, state, SPACE, 6, repeated(*transition, times=12))
    after = learn_often(agent, keys(12, 4000), state, replay)
    moves = []
    for m in range(2):
        flat = np.concatenate(
            [np.asarray(x[:, m], np.float64).reshape(4000, -1) for x in jax.tree.leaves(after)], axis=1
        )
        moves.append(flat - flat_of(member_of(state.params, m)))
    return config, state, np.asarray(replay.size), moves


def drift_and_variance(config, state, sizes, m):
    theta = member_of(state.params, m)
    one_hot = np.eye(3)
    transition = (one_hot[1], 0, 0.7, one_hot[2], True)
    gradient = td_slopes(transition, theta, theta, None, config)
    gradient = gradient + 2 * config.regularizer * config.noise_variance / sizes[m] * flat_of(theta)
    alpha = config.learning_rate * np.sqrt(1 - config.adam_b2) / (1 - config.adam_b1)
    root = np.sqrt((1 - config.adam_b2) * gradient**2)
    return first_step(gradient, config), 2 * alpha * config.noise_variance / (sizes[m] * (root + config.adam_eps))


def test_noise_of_an_update_counts_each_members_data(noisy_updates):
    """Variance 2α_kσ²/(|D_m|(√v+ε)) within 3% over all parameters (level 1e-8), and 12% for each (level 1e-5)."""
    config, state, sizes, moves = noisy_updates
    assert sizes[0] != sizes[1]
    assert sizes.min() > 0
    assert sizes.max() < 12
    for m in range(2):
        ratio = moves[m].var(axis=0) / drift_and_variance(config, state, sizes, m)[1]
        assert ratio.mean() == pytest.approx(1, abs=0.03)
        assert np.abs(ratio - 1).max() < 0.12


def test_mean_update_is_loss_and_regulariser(noisy_updates):
    """The mean over keys is alg4's step for the gradient plus σ_w²/|D|·2λθ; z < 5 for each parameter, level 1e-4."""
    config, state, sizes, moves = noisy_updates
    for m in range(2):
        drift, variance = drift_and_variance(config, state, sizes, m)
        z = (moves[m].mean(axis=0) - drift) / np.sqrt(variance / 4000)
        assert np.abs(z).max() < 5


def test_members_draw_their_own_noise(noisy_updates):
    """|r| < 5/√n over all parameters and keys. Level 6e-7."""
    config, state, sizes, moves = noisy_updates
    scaled = [
        (moves[m] - moves[m].mean(axis=0)) / np.sqrt(drift_and_variance(config, state, sizes, m)[1]) for m in range(2)
    ]
    assert abs(np.mean(scaled[0] * scaled[1])) < 5 / np.sqrt(scaled[0].size)


# Learning: targets, priors, members


def learning_states(agent, updates, seed=0):
    """The states after each of ``updates`` updates on a few transitions, the first state leading."""
    state = begin(agent, seed)
    rng = np.random.default_rng(seed)
    transitions = (
        rng.integers(0, 3, 300).astype(np.int32),
        rng.integers(0, 2, 300).astype(np.int32),
        rng.normal(size=300).astype(np.float32),
        rng.integers(0, 3, 300).astype(np.int32),
        rng.random(300) < 0.3,
    )
    replay = fill(agent, state, SPACE, seed, transitions)
    states = [state]
    for k in keys(seed, updates):
        states.append(learn(agent, k, states[-1], replay))
    return states


ENSEMBLE = {"agent": "ensemble_langevin_dqn", "members": 2}


@pytest.mark.parametrize("period", [4, 3])
def test_target_is_copied_every_period_and_only_then(period):
    states = learning_states(small(**ENSEMBLE, target_period=period), 9)
    assert same_bits(states[0].target, states[0].params), "the first target is θ_0"
    for number in range(1, 10):
        assert int(states[number].updates) == number
        assert not same_bits(states[number].params, states[number - 1].params)
        source = states[number].params if number % period == 0 else states[number - 1].target
        assert same_bits(states[number].target, source), number


def test_released_target_starts_from_its_own_draw():
    state = begin(small("langevin_dqn", "released"))
    assert not same_bits(state.target, state.params)


def test_prior_never_moves_in_the_paper_reading():
    states = learning_states(small(**ENSEMBLE), 5)
    assert any(np.abs(x).max() > 0 for x in jax.tree.leaves(states[0].prior))
    assert all(same_bits(state.prior, states[0].prior) for state in states)
    assert not same_bits(states[-1].params, states[0].params)


def test_prior_moves_with_prior_noise():
    """Each step is N(0, 2α_kσ²/(|D|ε)), as if v = 0: variance within 5 standard errors, level 6e-7."""
    agent = small(**ENSEMBLE, prior_noise=True, noise_variance=0.01, hidden=(50, 50))
    states = learning_states(agent, 2)
    for k in (1, 2):
        moved = flat_of(states[k].prior) - flat_of(states[k - 1].prior)
        alpha = 1e-3 * np.sqrt(1 - 0.999**k) / (1 - 0.9**k)
        expected = 2 * alpha * 0.01 / (300 * 1e-6)
        assert moved.var() == pytest.approx(expected, rel=5 * np.sqrt(2 / moved.size))


def test_members_start_and_stay_apart():
    states = learning_states(small(**ENSEMBLE), 3)
    for tree in (states[0].params, states[0].prior, states[-1].params):
        assert not np.array_equal(flat_of(member_of(tree, 0)), flat_of(member_of(tree, 1)))


def test_equal_members_are_parted_by_noise():
    """Same parameters, prior and data for both: only the noise can part them."""
    agent = small(**ENSEMBLE)
    state = begin(agent)
    state = state._replace(
        **{
            name: jax.tree.map(lambda x: jnp.stack([x[0], x[0]]), getattr(state, name))
            for name in ("params", "target", "prior", "target_prior")
        }
    )
    replay = fill(agent, state, SPACE, 0, repeated(np.int32(0), 1, 0.5, np.int32(1), False, 6))
    after = learn(agent, key(0), state, replay).params
    for leaf in jax.tree.leaves(after):
        assert not np.array_equal(leaf[0], leaf[1])


def test_a_member_without_data_does_not_learn():
    """alg3 samples each member's own buffer; while that is empty there is nothing to learn from."""
    agent = small("boot_dqn", members=2)
    state = begin(agent)
    replays = (fill(agent, state, SPACE, s, repeated(np.int32(1), 0, 0.7, np.int32(2), True, 1)) for s in range(20))
    replay = next(replay for replay in replays if replay.size.tolist() == [0, 1])
    after = learn(agent, key(0), state, replay).params
    assert same_bits(member_of(after, 0), member_of(state.params, 0))
    assert not same_bits(member_of(after, 1), member_of(state.params, 1))


def test_learning_is_a_function_of_the_key():
    first, again, other = (learning_states(small(**ENSEMBLE), 3, seed)[-1] for seed in (0, 0, 1))
    assert same_bits(first, again)
    assert not same_bits(first.params, other.params)


# Training


@pytest.fixture(scope="module")
def trained():
    def run(seed, **changes):
        return langevin_dqn.train(
            "ensemble_langevin_dqn", "deep_sea:depth=4", seed=seed, episodes=100, members=5, **changes
        )

    return run


def test_same_seed_same_returns(trained):
    first, again, other = trained(0), trained(0), trained(1)
    np.testing.assert_array_equal(first.returns, again.returns)
    assert first.updates == again.updates
    assert not np.array_equal(first.returns, other.returns)


def test_updates_come_before_each_episode(trained):
    """U updates for each step of the episode before; none before there is data (alg1, line 4)."""
    assert trained(0).updates == 99 * 4


def test_it_learns_a_shallow_sea(trained):
    """Seven of these eight seeds do; a uniform policy solves none in 100 episodes but by luck in the first four."""
    results = [trained(seed) for seed in range(8)]
    assert sum(r.returns[-20:].mean() > 0.9 for r in results) >= 6
    for result in results:
        assert result.learning_time == langevin_dqn.runs.metrics.learning_time(result.returns, 0.99)


def test_stop_when_solved(trained):
    """It stops in the very episode, and until there it is the same run."""
    whole, stopped = trained(3), trained(3, stop_when_solved=True)
    assert whole.solved
    assert stopped.episodes == stopped.learning_time == whole.learning_time
    np.testing.assert_array_equal(stopped.returns, whole.returns[: stopped.episodes])


def test_returns_are_those_of_deep_sea(trained):
    """Either the treasure at 0.99, or minus a multiple of 0.01/4."""
    returns = trained(0).returns.astype(np.float64)
    treasure = np.isclose(returns, 0.99, atol=1e-6)
    steps = -returns[~treasure] / 0.0025
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)
    assert (np.round(steps) >= 0).all()
    assert (np.round(steps) <= 3).all()
