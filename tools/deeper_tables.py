"""Write the tables of docs/going_deeper.md from the runs in a store.

    python tools/deeper_tables.py --store results --page docs/going_deeper.md

A table stands between ``<!-- name -->`` and ``<!-- end -->``.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options


@dataclass
class Args:
    """Write the tables of a page from the runs in a store."""

    store: str = "results"
    """Folder of stored runs."""
    page: Path = Path("docs/going_deeper.md")
    """Page whose tables are written."""


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.deeper import ablation, bsuite, chain, depths
    from langevin_dqn.runs.store import Store

    store, text = Store(args.store), args.page.read_text(encoding="utf-8")
    for name, module in {"depths": depths, "ablation": ablation, "chain": chain, "bsuite": bsuite}.items():
        found = [store.get(job) for job in module.FIGURE.jobs["standard"] if store.has(job)]
        table = module.table([result for result in found if result is not None])
        pattern = re.compile(rf"<!-- {name} -->.*?<!-- end -->", re.DOTALL)
        text = pattern.sub(lambda _, name=name, table=table: f"<!-- {name} -->\n{table}\n<!-- end -->", text)
    args.page.write_text(text, encoding="utf-8")
    print(f"wrote {args.page}")


if __name__ == "__main__":
    main(script_options(Args, __doc__))
