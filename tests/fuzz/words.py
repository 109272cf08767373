"""Strategies: numbers, names, paths and ids that nobody should write, among some that one may."""

import os

from hypothesis import strategies as st

NASTY = [
    "",
    " ",
    ".",
    "..",
    "/",
    "-",
    "--",
    "=",
    ":",
    ",",
    "a,b",
    "a=b",
    "[bold]x[/bold]",
    "[/]",
    "[red",
    "{x}",
    "%s",
    "$(id)",
    "`id`",
    "<script>alert(1)</script>",
    "<b>&amp;",
    "|a|b|",
    "a\nb",
    "a\tb",
    "\x1b[31mred\x1b[0m",
    "\x07",
    "\u202ereversed",
    "ä",
    "漢字",
    "🙂",
    "\udcff",
    "x" * 300,
    "null",
    "nan",
    "true",
    "None",
    "0",
    "a\\b",
    "'",
    '"',
    "(" * 50,
    "{}",
    "[]",
    "../outside/precious",
]
NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "00",
    "1.5",
    "1e3",
    "1e400",
    "-1e400",
    "nan",
    "inf",
    "-inf",
    "0x10",
    "1_000",
    "٣",
    "10000000000",
    "4294967296",
    "2147483648",
    "1" + "0" * 30,
    "9" * 5000,
    "1e-400",
    "-0",
    "+1",
    " 1",
    "1 ",
]

numbers = st.sampled_from(NUMBERS) | st.integers(-(2**70), 2**70).map(str) | st.floats().map(str)
names = st.sampled_from(NASTY) | st.text(max_size=12)

ENVS = [
    "deep_sea:depth=4",
    "deep_sea/3",
    "deep_sea/3:depth=4",
    "deep_sea:depth=5,depth=6",
    "catch/0",
    "bandit/0",
    "probe_action",
    "gym:CartPole-v1",
    "gym:Nothing-v0",
    "gym:",
    "dm:sys:exit",
    "dm:os:getcwd",
    "dm:os.path:join",
    "dm:nothing:at_all",
    "jax:math:pi",
    "jax:os:abort_",
    "jax:collections:OrderedDict",
    "gymnax:Nothing",
    "xminigrid:Nothing",
    "python:a:b",
    "mnist/0",
    "deep_sea:depth=0",
    "deep_sea:depth=-1",
    "deep_sea:size=3",
    "deep_sea:",
    "deep_sea/",
    "deep_sea/99",
    "deep_sea/-1",
    "cartpole:",
    "memory_len/3",
]


def _joined(parts):
    return "".join(parts)


pieces = st.sampled_from(
    [
        "deep_sea",
        "catch",
        "bandit",
        "gym",
        "dm",
        "jax",
        "gymnax",
        ":",
        "/",
        ",",
        "=",
        "depth",
        "seed",
        "size",
        "mapping_seed",
        "sys",
        "os",
    ]
)
env_ids = (
    st.sampled_from(ENVS)
    | st.builds(
        lambda name, key, value: f"{name}:{key}={value}",
        st.sampled_from(
            [
                "deep_sea",
                "deep_sea_stochastic",
                "catch",
                "bandit",
                "cartpole",
                "mountain_car",
                "memory_len",
                "umbrella_length",
                "discounting_chain",
                "contextual_bandit",
                "gaussian_bandit",
                "linear_bandit",
            ]
        ),
        st.sampled_from(
            [
                "depth",
                "seed",
                "mapping_seed",
                "size",
                "actions",
                "height",
                "length",
                "noise_scale",
                "reward_scale",
                "sigma",
            ]
        ),
        numbers | names,
    )
    | st.lists(pieces | names | numbers, min_size=1, max_size=6).map(_joined)
)

AGENTS = [
    "dqn",
    "langevin_dqn",
    "boot_dqn",
    "ensemble_langevin_dqn",
    "dqm",
    "",
    "python:",
    "python:os:getcwd",
    "python:sys:exit",
    "python:a.b:c",
]
agents = st.sampled_from(AGENTS) | names


@st.composite
def assignments(draw):
    """``--set`` of a field, known or not, to a number or a word."""
    from langevin_dqn.config import FIELD_TYPES

    field = draw(st.sampled_from(sorted(FIELD_TYPES)) | names)
    return f"{field}{draw(st.sampled_from(['=', '=', '=', '', '==']))}{draw(numbers | names)}"


#: Paths inside the folder of a case, in which ``prepared`` puts what stands in the way, and some that exist nowhere.
PATHS = [
    "new",
    "new/deep/er",
    "file",
    "file/below",
    "folder",
    "fifo",
    "link",
    "linked/below",
    "loop",
    "x" * 300,
    "a/" + "y" * 300,
    "[x]",
    "a b",
    "/proc/nothing",
    "/dev/full",
    "/dev/null/x",
    "",
    ".",
    "<b>",
    "a\nb",
    "~nobody/x",
    "folder/../new2",
    "*",
    "?",
]
SUFFIXES = ["", ".png", ".pdf", ".svg", ".gif", ".html", ".md", ".npz", ".txt", ".png.gz", "."]


def _stays_inside(path):
    """Where a user names a folder elsewhere, writing there is no mistake."""
    if path.startswith("/"):
        return path.startswith(("/proc/nothing", "/dev/null/")) or path == "/dev/full"
    return "\0" in path or not os.path.normpath(path).startswith("..")


paths = st.builds(lambda path, suffix: path + suffix, st.sampled_from(PATHS) | names, st.sampled_from(SUFFIXES)).filter(
    _stays_inside
)


def prepared(folder):
    """What stands in the way of outputs: a file, a folder, a FIFO, links to a precious file outside."""
    (folder / "file").write_text("text")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "link").symlink_to(folder.parent / "outside" / "precious")
    (folder / "loop").symlink_to(folder / "loop")
    for suffix in (".png", ".html", ".md"):
        (folder / f"link{suffix}").symlink_to(folder.parent / "outside" / "precious")
        os.mkfifo(folder / f"fifo{suffix}")
        (folder / f"folder{suffix}").mkdir()
