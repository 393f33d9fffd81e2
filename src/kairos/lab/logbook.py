"""The logbook: what people and runs note, with pictures. Earlier texts of an entry are kept.

An entry that a run writes is a record of its journal, so that it is neither lost nor written twice,
whatever is killed.
"""

import time
from collections.abc import Iterator

from sqlalchemy import Select, func, insert, or_, select

from ..controllers.publishing import Publication
from ..errors import UsageError
from . import clock
from .database import Database, rows
from .journal import Record
from .live import LiveDatasets
from .tables import logbook, searched

__all__ = ["PICTURE", "Logbook", "markdown"]

PICTURE = 2 << 20
"""Bytes of a picture."""
TEXT = 100_000
"""Characters of a text."""
PNG = b"\x89PNG\r\n\x1a\n"


class Logbook:
    """The logbook in a database; `publication` changes with it."""

    def __init__(self, database: Database, datasets: LiveDatasets):
        self._database = database
        self.publication = Publication(lambda: None)
        datasets.handlers["note"] = self.take

    def take(self, rid: int, record: Record):
        """Take a record of a run."""
        values = {"rid": rid, "record": record.number, "time": record.time, "text": str(record.value)[:TEXT]}
        with self._database.change() as change:
            same = (logbook.c.rid == rid) & (logbook.c.record == record.number)
            if change.execute(select(logbook.c.id).where(same)).first() is not None:
                return  # an earlier laboratory has taken it
            _write(change, **values)
        self.publication.changed([])

    def write(self, text: str, person: str | None, rid: int | None = None, picture: bytes = b"") -> int:
        """Write an entry; returns its number. UsageError for one without content, or with too much."""
        text = _checked(text)
        if not text and not picture:
            raise UsageError("an entry of the logbook needs a text or a picture")
        if picture and (not picture.startswith(PNG) or len(picture) > PICTURE):
            raise UsageError(f"a picture is a PNG file of at most {PICTURE >> 20} MiB")
        with self._database.change() as change:
            number = _write(change, time=clock.now(), person=person, rid=rid, text=text, picture=picture or None)
        self.publication.changed([])
        return number

    def edit(self, number: int, version: int, text: str, person: str | None):
        """Change the text `version` of an entry; an empty one withdraws it. UsageError if somebody has
        changed it meanwhile, LookupError if there is none."""
        text = _checked(text)
        with self._database.change() as change:
            versions = rows(change, select(logbook).where(logbook.c.entry == number).order_by(logbook.c.version))
            if not versions:
                raise LookupError(f"entry {number} of the logbook")
            last = versions[-1]
            if last["version"] != version:
                who = last["person"] or "somebody"
                raise UsageError(f"entry {number} was changed by {who} meanwhile: copy your text, and edit it again")
            made = {"entry": number, "version": version + 1, "time": clock.now(), "person": person, "text": text}
            change.execute(insert(logbook).values(**made, withdrawn=not text))
        self.publication.changed([])

    def found(self, words=(), limit: int | None = None, since: float = 0, until: float = 0) -> list[dict]:
        """Return the entries that match all words, newest first: `number`, `version`, `time`,
        `person`, `rid`, `text`, `has_picture`, `edited`, `editor`."""
        with self._database.view() as view:
            query = _query(words, since, until)
            query = query.order_by(query.selected_columns.time.desc(), query.selected_columns.number.desc())
            return rows(view, query.limit(limit) if limit else query)

    def count(self, words=()) -> int:
        """Return the number of entries that match."""
        with self._database.view() as view:
            return view.execute(select(func.count()).select_from(_query(words, 0, 0).subquery())).scalar() or 0

    def picture(self, number: int) -> bytes:
        """Return the picture of an entry; LookupError."""
        query = select(logbook.c.picture).where((logbook.c.entry == number) & (logbook.c.version == 1))
        with self._database.view() as view:
            found = view.execute(query).scalar()
        if found is None:
            raise LookupError(f"picture of entry {number}")
        return bytes(found)


def _checked(text: str) -> str:
    if len(text) > TEXT:
        raise UsageError(f"a text of the logbook has at most {TEXT} characters, this one has {len(text)}")
    return text.strip()


def _write(change, **values) -> int:
    number = (change.execute(select(func.max(logbook.c.entry))).scalar() or 0) + 1
    change.execute(insert(logbook).values(entry=number, version=1, withdrawn=False, **values))
    return number


def _query(words, since: float, until: float) -> Select:
    first, last = logbook.alias("first"), logbook.alias("last")
    newest = select(logbook.c.entry, func.max(logbook.c.version).label("version")).group_by(logbook.c.entry).subquery()
    query = (
        select(
            first.c.entry.label("number"),
            last.c.version,
            first.c.time,
            first.c.person,
            first.c.rid,
            last.c.text,
            first.c.picture.is_not(None).label("has_picture"),
            last.c.time.label("edited"),
            last.c.person.label("editor"),
        )
        .join(newest, newest.c.entry == first.c.entry)
        .join(last, (last.c.entry == newest.c.entry) & (last.c.version == newest.c.version))
        .where((first.c.version == 1) & last.c.withdrawn.is_(False))
    )
    if since:
        query = query.where(first.c.time >= since)
    if until:
        query = query.where(first.c.time < until)
    for word in searched(words):
        name, sign, value = word.partition("=")
        if name == "run" and sign and value.isdecimal() and len(value) < 19:  # longer ones are no numbers of a database
            query = query.where(first.c.rid == int(value))
        else:
            columns = last.c.text, first.c.person
            query = query.where(or_(*(column.icontains(word, autoescape=True) for column in columns)))
    return query


def markdown(entries: list[dict], title: str) -> Iterator[str]:
    """Yield entries, given newest first, as lines of Markdown, oldest first; their pictures are
    ``logbook/NUMBER.png``."""
    yield f"# {title}\n"
    day = ""
    for entry in reversed(entries):
        moment = time.localtime(entry["time"])
        if (now := time.strftime("%Y-%m-%d", moment)) != day:
            day = now
            yield f"\n## {day}\n"
        run = f", run {entry['rid']}" if entry["rid"] is not None else ""
        yield f"\n### {time.strftime('%H:%M:%S', moment)} {entry['person'] or 'run'}{run}\n"
        if entry["text"]:
            yield f"\n{entry['text']}\n"
        if entry["has_picture"]:
            yield f"\n![entry {entry['number']}](logbook/{entry['number']}.png)\n"
