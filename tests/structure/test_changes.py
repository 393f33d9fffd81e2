"""The changes that CONTRIBUTING lists: its files exist, at most three per change and two more in brackets; forgotten
steps that no other test finds are found here."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from kairos_gateware.build import BOARDS

ROOT = Path(__file__).parents[2]
CHANGES = 16


def table(page: str, heading: str) -> list[list[str]]:
    """Returns the cells of the first table below a heading of a page."""
    section = (ROOT / page).read_text().partition(f"{heading}\n")[2]
    rows = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def rows() -> list[list[str]]:
    return table("CONTRIBUTING.md", "## Where a change belongs")


def test_all_changes_of_contributing_are_listed():
    assert len(rows()) == CHANGES


def paths(text: str) -> list[str]:
    return re.findall(r"`([\w/.]+/[\w/.]+)`", text)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_row_names_at_most_three_existing_files(row):
    _, files, found_by = row
    edited = files.partition("; then ")[0]
    # The page says what is in brackets: a line of a list, or the file of a variant.
    steps = [paths(part) for part in re.sub(r"\([^)]*\)", "", edited).split(",")]
    additional = [name for text in re.findall(r"\([^)]*\)", edited) for name in paths(text)]
    steps = [step for step in steps if step]
    assert 1 <= len(steps) <= 3, steps
    assert len(additional) <= 2, additional
    for name in paths(files) + re.findall(r"`((?:tests|src)/[\w/.]+)`", found_by):
        assert list(ROOT.glob(name.replace("NAME", "*"))), name


def test_every_change_is_performed_by_a_test():
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_sufficient*.py"))
    assert sorted(re.findall(r'only_named\(tree, "([^"]+)"', tests)) == sorted(row[0] for row in rows())


def test_every_board_has_gateware_loader_and_row():
    chip = (ROOT / "src" / "firmware" / "chip" / "src" / "boards" / "mod.rs").read_text()
    loader = set(re.findall(r"&(\w+)::BOARD", chip))
    documented = {row[0].strip("`") for row in table("docs/gateware/boards.md", "# Boards and system descriptions")}
    assert set(BOARDS) == documented
    assert set(BOARDS) - {"sim"} == loader


def drivers() -> set[str]:
    """Returns the classes that a device database may name: those constructed from the device manager
    and arguments. A class imported from a module whose name extends the importer's counts as the
    importer's: `suservo.Channel`. Other names of a class do not count."""
    found = {}
    for path in sorted((ROOT / "src" / "kairos" / "coredevice").glob("[!_]*.py")):
        module = import_module(f"kairos.coredevice.{path.stem}")
        for name in getattr(module, "__all__", []):
            made = getattr(module, name)
            if inspect.isclass(made) and made.__name__ == name and made.__module__.startswith(module.__name__):
                made_from = inspect.signature(made.__init__).parameters if made.__init__ is not object.__init__ else []
                if list(made_from)[1:2] == ["dmgr"]:
                    found.setdefault(made, f"{path.stem}.{name}")
    return set(found.values())


def test_every_driver_is_in_the_manual():
    named = [re.findall(r"`([\w.]+)`", row[0]) for row in table("docs/experiments.md", "### The drivers")]
    assert {name for names in named for name in names} == drivers()


def test_statement_kinds_occur_in_three_files_only():
    """Matches over statements are exhaustive, so the compiler finds all in these files; there are no others.

    `with interleave` examines the statements it unrolls; it rejects all other statements that delay.
    """
    compiler = ROOT / "src" / "compiler" / "src"
    knowing = {path.relative_to(compiler) for path in compiler.rglob("*.rs") if "StmtKind::" in path.read_text()}
    read = {path for path in knowing if path.parts[0] == "syntax"}
    interleave = Path("lower/interleave/mod.rs")
    # These look for statements of some kinds, and skip all others; the loops that have others are not skipped in time.
    some = "emit/parallel infer/empty infer/hints infer/subkernel lower/passes lower/polling lower/trends".split()
    looking = {Path(f"{name}.rs") for name in some}
    assert knowing - read - looking == {Path("infer/stmt.rs"), Path("lower/stmt.rs"), interleave}
    # The last contains an exhaustive match over all statements, to remove unreachable ones.
    makers = {"statements.rs", "with.rs", "functions.rs", "pruning.rs"}
    assert {path.name for path in read} <= makers, "only what is read as other statements stands in another file"
