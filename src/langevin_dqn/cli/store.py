"""``langevin-dqn store pack``: keep a store's runs in one file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from langevin_dqn.cli.terminal import say
from langevin_dqn.errors import UserError


@dataclass
class Args:
    """Pack a store: put its runs into one file for each version of the algorithm.

    All commands read packed runs like single files. New runs are added as single files, until the store is packed
    again.
    """

    action: tyro.conf.Positional[Literal["pack"]]
    """The action: pack is the only one."""
    folder: tyro.conf.Positional[str]
    """Folder of stored runs."""


def main(args: Args) -> int:
    from langevin_dqn.runs.folders import check_writable
    from langevin_dqn.runs.store import Store

    if not Path(args.folder).exists():
        raise UserError(f"there is no store at {args.folder}", "pass the folder that was given to --store")
    store = Store(args.folder)
    check_writable(store.folder)
    packings = store.pack()
    for path in store.damaged:
        say(f"unreadable file, set aside: {path}")
    runs, added, freed = (sum(values) for values in zip(*packings, strict=True)) if packings else (0, 0, 0)
    if not runs:
        raise UserError(f"{args.folder} has no runs", "make some with langevin-dqn reproduce")
    print(f"{args.folder}: {runs} runs are packed, {added} of them now; {freed / 1e6:.1f} MB less than before")
    return 1 if store.damaged else 0
