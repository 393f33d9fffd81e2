"""docs/dependencies.md gives a reason for every library that our manifests require."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def rust() -> set[str]:
    """Returns the names of the crates that our manifests require."""
    names = set()
    for path in [ROOT / "Cargo.toml", ROOT / "fuzz" / "Cargo.toml", *(ROOT / "src").rglob("Cargo.toml")]:
        manifest = tomllib.loads(path.read_text())
        for part in [manifest, manifest.get("workspace", {}), *manifest.get("target", {}).values()]:
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                names |= {name for name in part.get(kind, {}) if not name.startswith("kairos-")}
    return names


def python() -> set[str]:
    """Returns the names of the distributions that our projects require."""
    names = set()
    for path in [ROOT / "pyproject.toml", *(ROOT / "src").glob("*/pyproject.toml")]:
        project = tomllib.loads(path.read_text())["project"]
        optional = project.get("optional-dependencies", {})
        for requirement in [*project.get("dependencies", []), *(one for some in optional.values() for one in some)]:
            names.add(re.match(r"[\w-]+", requirement)[0].lower())
    return {name for name in names if not name.startswith("kairos-")}


def test_every_dependency_has_its_reason():
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    words = set(re.findall(r"[\w-]+", page))
    assert sorted((rust() | python()) - words) == []
