"""Random bad input of every kind, and a table of what was found.

    python tools/fuzz.py --cases 5000

The kinds are in tests/fuzz; ``pytest tests/fuzz`` runs 300 fixed cases. Here they are drawn anew each time, unless
``--seed`` is given. A case that breaks a promise is reduced to a small one and printed; the exit code is then 1.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "fuzz"))

import harness
from hypothesis import HealthCheck, Phase, given, seed, settings
from kinds import KINDS

from langevin_dqn.cli.arguments import filled


def search(kind, cases, number, shrink):
    """Run cases of a kind up to the first that breaks a promise: how many were run, and what was found."""
    strategy, case = KINDS[kind]
    ran, found = 0, None
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    options = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck), "phases": phases}

    @seed(number)
    @settings(max_examples=cases, **options, report_multiple_bugs=False)
    @given(strategy)
    def each(value):
        nonlocal ran
        ran += 1
        harness.run(lambda folder: case(folder, value))

    try:
        each()
    except Exception as error:
        found = error
    return ran, found


def main():
    parser = argparse.ArgumentParser(description=filled(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000, help="total number of cases (default: 5000)")
    parser.add_argument(
        "--seed", type=int, default=None, help="random seed, to draw the same cases again (default: the time)"
    )
    parser.add_argument(
        "--kind",
        action="append",
        choices=list(KINDS),
        metavar="KIND",
        help=f"run only this kind; may be repeated: {', '.join(KINDS)}",
    )
    parser.add_argument(
        "--no-shrink", action="store_true", help="print a failing case as it was found, not a smaller one"
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    kinds = args.kind or list(KINDS)
    number = int(time.time()) if args.seed is None else args.seed
    print(f"seed {number}\n\n| kind | cases | CPU seconds | found |\n|---|---|---|---|", flush=True)
    broken = {}
    with harness.without_training():
        for kind in kinds:
            began = time.process_time()
            ran, found = search(kind, -(-args.cases // len(kinds)), number, not args.no_shrink)
            if found is not None:
                broken[kind] = found
            words = "nothing" if found is None else f"{type(found).__name__}: {str(found).splitlines()[0][:80]}"
            print(f"| {kind} | {ran:,} | {time.process_time() - began:.0f} | {words} |", flush=True)
    for kind, found in broken.items():
        print(f"\n{kind}: {found}\n" + "\n".join(getattr(found, "__notes__", [])))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
