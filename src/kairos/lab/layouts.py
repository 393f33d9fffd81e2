"""Layouts of the page, by name. Every version is kept, so that one that was saved by mistake is undone by
saving the one before. Those that the repository keeps as text files become versions, too."""

import json
import logging
from pathlib import Path

from sqlalchemy import func, insert, select

from .. import files
from ..controllers.publishing import Publication
from ..errors import UsageError
from . import clock
from .database import Database, rows
from .tables import layouts

__all__ = ["Layouts"]

logger = logging.getLogger(__name__)

FOLDER = "layouts"
"""Folder of the repository with layouts, each in a file ``NAME.json``."""
REPOSITORY = "the repository"
"""Who has saved those."""

NAME, CONTENT = 60, 256 << 10
"""Characters of a name, and of a content."""


class Layouts:
    """The layouts in a database; `publication` changes with them."""

    def __init__(self, database: Database):
        self._database = database
        self.publication = Publication(self.listed)

    def listed(self) -> list[dict]:
        """Return the newest version of each layout, by name: `name`, `version`, `time`, `person`."""
        newest = (
            select(layouts.c.name, func.max(layouts.c.version).label("version")).group_by(layouts.c.name).subquery()
        )
        query = (
            select(layouts.c.name, layouts.c.version, layouts.c.time, layouts.c.person)
            .join(newest, (newest.c.name == layouts.c.name) & (newest.c.version == layouts.c.version))
            .where(layouts.c.content != "")
            .order_by(layouts.c.name)
        )
        with self._database.view() as view:
            return rows(view, query)

    def get(self, name: str, version: int = 0) -> dict:
        """Return a layout with its `content`, the newest version or an earlier one; LookupError."""
        query = select(layouts).where(layouts.c.name == name)
        if version:
            query = query.where(layouts.c.version == version)
        with self._database.view() as view:
            found = rows(view, query.order_by(layouts.c.version.desc()).limit(1))
        if not found or not found[0]["content"]:
            raise LookupError(f"version {version} of layout '{name}'" if version else f"layout '{name}'")
        return {key: found[0][key] for key in ("name", "version", "time", "person", "content")}

    def save(self, name: str, content: str, version: int, person: str | None) -> int:
        """Save a layout that was changed since `version`; an empty `content` withdraws it. Returns the
        number of the new version. UsageError if somebody has saved it meanwhile."""
        name = name.strip()
        if not name or len(name) > NAME:
            raise UsageError(f"the name of a layout has 1 to {NAME} characters")
        if content:
            _check(content)
        with self._database.change() as change:
            query = select(layouts).where(layouts.c.name == name).order_by(layouts.c.version.desc()).limit(1)
            last = next(iter(rows(change, query)), None)
            number = last["version"] if last else 0
            if number != version and not (version == 0 and last and not last["content"]):
                raise UsageError(f"layout '{name}' was saved by {last and last['person'] or 'somebody'} meanwhile")
            values = {"name": name, "version": number + 1, "time": clock.now(), "person": person, "content": content}
            change.execute(insert(layouts).values(**values))
        self.publication.changed([])
        return number + 1

    def take(self, root: Path):
        """Save the layouts in a repository whose files have changed since they were last taken. Layouts that people
        have saved since stay, as their earlier versions do."""
        for path in sorted((root / FOLDER).glob("*.json")):
            name = files.name_of(path.stem)
            try:
                content = files.read(path).decode()
                _check(content)
                newest, taken = self._newest(name), self._newest(name, REPOSITORY)
                if not any(each and _same(each["content"], content) for each in (newest, taken)):
                    self.save(name, content, newest["version"] if newest else 0, REPOSITORY)
            except (UsageError, UnicodeDecodeError) as error:
                logger.warning("layout '%s' of the repository is not taken: %s", name, error)

    def _newest(self, name: str, person: str | None = None) -> dict | None:
        query = select(layouts).where(layouts.c.name == name)
        if person is not None:
            query = query.where(layouts.c.person == person)
        with self._database.view() as view:
            return next(iter(rows(view, query.order_by(layouts.c.version.desc()).limit(1))), None)


def _same(one: str, other: str) -> bool:
    """Return whether two contents mean the same; an empty one is withdrawn."""
    return bool(one) and json.loads(one) == json.loads(other)


def _check(content: str):
    try:
        valid = len(content) <= CONTENT and isinstance(json.loads(content), dict)
    except (ValueError, RecursionError):
        valid = False
    if not valid:
        raise UsageError(f"a layout is an object in JSON of at most {CONTENT >> 10} KiB")
