"""The agents as the figures run them: which variant of Table 1 and Table 2, and why.

``paper`` is the text's variant, ``released`` that of the authors' code (``docs/reference/deviations.md``).
For the single chain the text's σ_w² = 0.005 and λ = 1 do not learn in our runs, the code's
do. For the ensemble it is the other way round. Each figure says which it uses.
"""

from langevin_dqn.paper.jobs import Contender

#: Figure 2's DQN: "starting with ε = 0.5 and decaying it"; the text does not say how fast.
DECAYING_DQN = Contender("dqn", changes={"epsilon": 0.5, "epsilon_final": 0.0, "epsilon_decay_episodes": 2500})
LANGEVIN = Contender("langevin_dqn", "released")
#: The text's own settings for Figure 2: σ_w² = 0.005 times the depth, λ = 1.
LANGEVIN_AS_WRITTEN = Contender("langevin_dqn", "paper", {"noise_per_depth": True})
BOOT = Contender("boot_dqn")
ENSEMBLE = Contender("ensemble_langevin_dqn")
