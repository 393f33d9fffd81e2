"""The laboratory's database: SQLite by default, or any that SQLAlchemy knows by its URL.

A transaction is on the disk when it is committed. An empty database gets the tables of this version; tables of an older
one are brought up to date by the numbered changes in :mod:`.migrations`.
"""

import os
import re
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, event, insert, inspect, make_url, select, text, update
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.schema import CreateSchema

from ..errors import UsageError
from .tables import metadata, owner

__all__ = ["HEAD", "Database", "Unavailable"]

HEAD = "0008"
"""Number of the last change of the tables."""
CONNECT = 5
"""Seconds for a server to answer."""
BUSY = 10
"""Seconds to wait for another process that holds the database."""


class Unavailable(UsageError):
    """The database cannot be read or written for now: its server is away, or its disk is full."""


class Database:
    """The database at `url`; UsageError if it cannot be opened. `schema`: the part of a database on a
    PostgreSQL server in which the tables are, made if there is none; by default that of its user."""

    def __init__(self, url: str, schema: str = ""):
        self.url = url
        is_file = url.startswith("sqlite")
        try:
            self.url = make_url(url).render_as_string(hide_password=True)
            if is_file:
                options = {"connect_args": {"timeout": BUSY, "check_same_thread": False}}
            else:
                # A server may have been away, and must not hold up the laboratory.
                options = {"pool_pre_ping": True}
                if make_url(url).get_backend_name() == "postgresql":
                    options["connect_args"] = {"connect_timeout": CONNECT}
            if schema:
                self._make_schema(url, schema, options)
            self.engine = create_engine(url, **options)
        except SQLAlchemyError as error:
            if isinstance(error, ArgumentError | NoSuchModuleError):
                raise UsageError(f"the database {self.url} cannot be opened: {_first_line(error)}") from None
            raise UsageError(f"the schema {schema} of {self.url} cannot be made: {_reason(error)}") from None
        except ImportError as error:
            hint = ": pip install 'kairos[postgresql]'" if isinstance(error, ImportError) else ""
            raise UsageError(f"the database {self.url} cannot be opened: {_first_line(error)}{hint}") from None
        if is_file:
            event.listen(self.engine, "connect", _configure)
        self._identity: tuple[int, int] | None = None
        self._path = make_url(url).database if is_file else None
        try:
            self._upgrade()
            self._identity = self._found()
        except SQLAlchemyError as error:
            raise UsageError(f"the database {self.url} cannot be opened: {_reason(error)}") from None

    def _make_schema(self, url: str, schema: str, options: dict):
        """Have a schema, and `options` of connections for which it is the only one."""
        if make_url(url).get_backend_name() != "postgresql":
            raise UsageError(f"database_schema is for PostgreSQL, not for {self.url}")
        if not re.fullmatch("[a-z_][a-z0-9_]{0,62}", schema):
            raise UsageError(f"database_schema must be a name in lower case, such as trap_2, not {schema!r}")
        engine = create_engine(url, **options)
        with engine.begin() as connection:
            if not inspect(connection).has_schema(schema):
                connection.execute(CreateSchema(schema, if_not_exists=True))
        engine.dispose()
        options["connect_args"]["options"] = f"-csearch_path={schema}"

    def claim(self, laboratory: str, name: str, place: str):
        """Note that the database belongs to a laboratory, by its identity; UsageError if it belongs to
        another one."""
        mine = {"laboratory": laboratory, "name": name, "place": place}
        try:
            with self.change() as change:
                found = rows(change, select(owner))
                if not found:
                    change.execute(insert(owner).values(number=1, **mine))
                    return
                (other,) = found
                # A folder may be moved; or it lost its identity, and is where it was.
                if laboratory == other["laboratory"] or place == other["place"]:
                    change.execute(update(owner).values(**mine))
                    return
        except IntegrityError:  # another laboratory has been quicker
            with self.view() as view:
                (other,) = rows(view, select(owner))
        own = "a file of its own" if self._path else 'a part of its own, by database_schema = "NAME" in lab.toml'
        raise UsageError(
            f"the database {self.url} belongs to the laboratory {other['name']} ({other['place']}): give this one {own}"
        )

    def _upgrade(self):
        with self.engine.begin() as connection:
            tables = inspect(connection).get_table_names()
            if not tables:
                self._make_tables(connection)
                return
            found = "alembic_version" in tables
            version = connection.execute(text("select version_num from alembic_version")).scalar() if found else None
        if version == HEAD:
            return
        if version is not None and version > HEAD:
            raise UsageError(f"the database {self.url} was written by a later version of Kairos: update Kairos")
        # Imported late: needed once per version, and it takes as long as the rest of the start.
        from alembic import command
        from alembic.config import Config  # likewise

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
        config.attributes["engine"] = self.engine
        command.upgrade(config, "head")

    @staticmethod
    def _make_tables(connection: Connection):
        """Make the tables of this version in an empty database. The last is Alembic's own: without it, the next start
        takes all changes for missing ones, and each finds what is there already."""
        metadata.create_all(connection)
        connection.execute(text("create table alembic_version (version_num varchar(32) not null primary key)"))
        connection.execute(text("insert into alembic_version values (:head)"), {"head": HEAD})

    def _found(self) -> tuple[int, int] | None:
        """Return device and number of the file that has the database's name; None if there is none."""
        if self._path in (None, "", ":memory:"):
            return None
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def change(self):
        """Yield a connection for a transaction that is on the disk at the end; UsageError if the
        database cannot be written."""
        if self._found() != self._identity:
            # SQLite would go on with the removed file, and everything would be lost at the end.
            raise Unavailable(
                f"the database {self.url} cannot be written: its file was removed or replaced; put it back, or start "
                "the laboratory again"
            )
        try:
            with self.engine.begin() as connection:
                yield connection
        except (DBAPIError, OverflowError) as error:
            raise self._refused(error, "written") from None

    @contextmanager
    def view(self):
        """Yield a connection for reading."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except (DBAPIError, OverflowError) as error:
            raise self._refused(error, "read") from None

    def _refused(self, error: DBAPIError | OverflowError, what: str) -> Exception:
        """Return the error for the user; `error` itself, if it is none of the database but ours."""
        if isinstance(error, OverflowError | DataError):
            return UsageError("a number is too large for the database")
        if isinstance(error, OperationalError) or error.connection_invalidated:
            return Unavailable(f"the database {self.url} cannot be {what}: {_reason(error)}")
        return error

    def close(self):
        """Close all connections."""
        self.engine.dispose()


def rows(connection: Connection, statement) -> list[dict]:
    """Return the rows of a query as dictionaries."""
    return [dict(row._mapping) for row in connection.execute(statement)]


def _configure(connection, _):
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _reason(error: SQLAlchemyError) -> str:
    return _first_line(getattr(error, "orig", None) or error)


def _first_line(error) -> str:
    return str(error).partition("\n")[0]
