"""Figure 10: DQN and Langevin DQN over bsuite, by experiment; the runs are those of Figure 9."""

from langevin_dqn.paper.bsuite_drawing import describe_bars, draw_bars
from langevin_dqn.paper.categories import differs
from langevin_dqn.paper.fig9 import JOBS, NOTE
from langevin_dqn.paper.figure import Figure

FIGURE = Figure(
    id="fig10",
    label="Figure 10",
    title="bsuite by experiment: DQN and Langevin DQN",
    jobs=JOBS,
    claims=(differs("scale", "Langevin DQN is worse on the scale experiments.", "dqn", "langevin_dqn", "scale"),),
    note=NOTE,
    draw=draw_bars,
    describe=describe_bars,
)
