"""No six lines occur twice in src/, except where docs/architecture.md gives a reason.

Compared literally except for white space; blank lines, comments, imports, lines of punctuation and generated files do
not count.
"""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
LENGTH = 6
SUFFIXES = {".rs", ".py", ".cpp", ".h", ".c", ".S", ".ld", ".x"}
THIN = re.compile(r"$|//|#|\*|/\*|use |pub use |import |from |mod |pub mod |[\W_]*$|else:|try:|return;|pass$|end")
GENERATED = re.compile(r"\bgenerated\b", re.IGNORECASE)


def lines(path: Path) -> list[tuple[int, str]]:
    """Returns number and text of the lines that count; none for a generated file."""
    text = path.read_text()
    if GENERATED.search(text[:400]):
        return []
    # Docstrings and multi-line imports are ignored.
    text = re.sub(r'"""(?:.|\n)*?"""', lambda m: "\n" * m[0].count("\n"), text)
    text = re.sub(r"(?m)^(?:from \S+ import|use [^;(]*::) ?[({][^)};]*[)}];?", lambda m: "\n" * m[0].count("\n"), text)
    numbered = ((number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in numbered if not THIN.match(line)]


def repeated() -> dict[tuple[str, str], str]:
    """Returns, for each pair of files with a common run, where the run begins."""
    places = defaultdict(list)
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in SUFFIXES and path.is_file():
            counted = lines(path)
            for at in range(len(counted) - LENGTH + 1):
                run = tuple(text for _, text in counted[at : at + LENGTH])
                places[run].append((path.relative_to(ROOT / "src").as_posix(), at, counted[at][0]))
    found = {}
    for run in places.values():
        for other in run[1:]:
            (one, at, line), (two, at_two, line_two) = run[0], other
            # Within one file, overlapping runs of equal lines do not count.
            if one != two or at_two - at >= LENGTH:
                found.setdefault((one, two), f"{one}:{line} and {two}:{line_two}")
    return found


def allowed() -> set[tuple[str, str]]:
    """Returns the pairs of files that the page allows: rows of the table in "Repeated on purpose"."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition("## Repeated on purpose\n")[2].partition("\n## ")[0]
    return {tuple(re.findall(r"`([^`]+)`", row)[:2]) for row in section.splitlines() if row.startswith("| `")}


def test_no_six_lines_are_repeated():
    found = repeated()
    wrong = sorted(place for pair, place in found.items() if pair not in allowed() and pair[::-1] not in allowed())
    assert not wrong, "the same six lines stand in:\n" + "\n".join(wrong)


def test_allowed_repetitions_are_still_needed():
    found = repeated()
    stale = {pair for pair in allowed() if pair not in found and pair[::-1] not in found}
    assert not stale, f"docs/architecture.md, 'Repeated on purpose': no longer repeated: {stale}"
