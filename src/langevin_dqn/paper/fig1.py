"""fig1: the deep sea, a drawing."""

from langevin_dqn.paper.figure import NO_RUNS, Figure

FIGURE = Figure(id="fig1", title="The deep sea", jobs=NO_RUNS, claims=(), note="A drawing of the environment's rules.")
