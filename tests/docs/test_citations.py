"""Every section of this project's own documents that a source or a page cites exists.

Three documents are cited by number: the kernel ABI, the wire protocols and the interfaces between
the parts. Sections of data sheets and standards are not checked.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = {
    "kernel abi": "docs/spec/kernel-abi.md",
    "wire protocol": "docs/spec/wire-protocols.md",
    "interfaces.md": "docs/interfaces.md",
}
NUMBERS = r"\d+(?:\.\d+)*(?:(?:, | and | to )\d+(?:\.\d+)*)*"
CITATION = re.compile(
    r"(kernel ABI|wire protocol|interfaces\.md)(?:s\b|'s)?[`)]*(?: list| says)?,?[ (]{1,2}"
    rf"(?:table|sections?) ({NUMBERS})",
    re.IGNORECASE,
)
SOURCES = {".rs", ".py", ".md", ".c", ".h", ".ld", ".toml", ".S", ""}
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([\w-]+))?\)")
EXAMPLES = {"round_trip.py", "typo.py", "typed.py", "imported/beams.py"}
"""Files of readers, in the pages about experiments."""


def text_of(path: Path) -> str:
    """Returns a file as running text: line breaks, within comments too, become one space."""
    return re.sub(r"\s*\n\s*(?://[/!]?|#|\*|--)?\s*", " ", path.read_text(errors="replace"))


def citations():
    """Returns (file, document, number) of each citation in the files tracked by git."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in files:
        path = ROOT / name
        if path.suffix in SOURCES and path.is_file() and path != Path(__file__):
            for document, numbers in CITATION.findall(text_of(path)):
                for number in re.findall(r"\d+(?:\.\d+)*", numbers):
                    yield name, DOCUMENTS[document.lower()], number


def headings(document: str) -> set[str]:
    """Returns the section numbers of a page."""
    return set(re.findall(r"^#+ (\d+(?:\.\d+)*)\.?\s", (ROOT / document).read_text(), re.MULTILINE))


def test_citation_across_lines_is_found(tmp_path):
    path = tmp_path / "example.rs"
    path.write_text(
        "//! Of requests (wire\n//! protocols, sections 1.2 and 2) and (`docs/interfaces.md`, section 5).\n"
    )
    found = CITATION.findall(text_of(path))
    assert found == [("wire protocol", "1.2 and 2"), ("interfaces.md", "5")]


@pytest.mark.parametrize("document", DOCUMENTS.values())
def test_cited_sections_of_documents_exist(document):
    found = [(name, number) for name, cited, number in citations() if cited == document]
    assert found, f"nothing cites {document} any more"
    wrong = sorted({entry for entry in found if entry[1] not in headings(document)})
    assert not wrong, f"no such section in {document}: {wrong}"


def anchors(page: Path) -> set[str]:
    """Returns the anchors of a page's headings, in GitHub's form."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def pages() -> list[Path]:
    """Returns all Markdown files tracked by git, except vendored ones."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split() if not name.startswith("vendor/") and (ROOT / name).is_file()]


@pytest.mark.parametrize("page", pages(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_of_a_page_resolve(page):
    wrong = []
    for target, anchor in LINK.findall(page.read_text()):
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            wrong.append(f"{target}#{anchor}" if anchor else target)
    assert not wrong


def test_source_files_named_in_pages_exist():
    """By their paths, or the ends of these; `src` within a crate may be left out. Names in capitals stand for any."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    known = {f"/{name}" for name in names} | {f"/{name}".replace("/src/", "/") for name in names}
    ends = {name[at:] for name in known for at, letter in enumerate(name) if letter == "/"}
    missing = [
        f"{page}: {file}"
        for page in names
        if page.endswith(".md") and not page.startswith(("vendor/", "CHANGELOG"))
        for file in re.findall(r"`([\w/.-]+\.(?:py|rs|svelte|ts|proto|cpp|ex|ld))`", (ROOT / page).read_text())
        if not re.search(r"\b[A-Z]{3,}\b", file) and f"/{file}" not in ends and file not in EXAMPLES
    ]
    assert not missing, "\n".join(missing)
