"""Figure 13: DQN, Boot DQN (10) and Ensemble Langevin DQN (7) over bsuite, by experiment; the runs are Figure 12's."""

from langevin_dqn.paper.bsuite_drawing import describe_bars, draw_bars
from langevin_dqn.paper.categories import differs
from langevin_dqn.paper.fig12 import JOBS, NOTE
from langevin_dqn.paper.figure import Figure

FIGURE = Figure(
    id="fig13",
    label="Figure 13",
    title="bsuite by experiment: DQN, Boot DQN (10), Ensemble Langevin DQN (7)",
    jobs=JOBS,
    claims=(differs("boot_explores", "Boot DQN explores better than DQN.", "boot_dqn", "dqn", "exploration"),),
    note=NOTE,
    draw=draw_bars,
    describe=describe_bars,
)
