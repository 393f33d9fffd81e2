"""``kairos datasets``: persistent datasets."""

import sys
from contextlib import contextmanager
from pathlib import Path

from .. import pyon
from ..errors import CommandLineError, UsageError
from ..experiment.store import DatasetStore
from ..labclient import connect
from ..quantities import Quantity
from .command import suggestion
from .printed import print_notice
from .tables import json_line, plain_value

__all__ = ["delete", "get", "list_all", "set_value"]

DEFAULT = "dataset_db.mdb"
STDIN = "-"
"""Stands for a value that is read from the standard input: a command line has 128 KiB at most."""


@contextmanager
def _store(args, new=False):
    """Open the store of the command line; UsageError if it does not exist, unless it may be `new`.
    A laboratory that is running in this folder is asked, because it has the datasets in memory."""
    if args.dataset_db is None and (laboratory := _Laboratory.running()) is not None:
        yield laboratory
        return
    args.dataset_db = args.dataset_db or DEFAULT
    if not (new or Path(args.dataset_db).exists()):
        raise UsageError(
            f"there is no dataset store {args.dataset_db}: it is created by runs that set datasets with persist=True"
        )
    store = DatasetStore(args.dataset_db)
    try:
        yield store
    finally:
        store.close_db()


class _Laboratory:
    """The datasets of a running laboratory, with the methods of a store that are used here."""

    path = "the laboratory"

    def __init__(self, client):
        self._client = client

    @classmethod
    def running(cls) -> "_Laboratory | None":
        """Return the laboratory of this folder; None if there is none."""
        try:
            return cls(connect())
        except UsageError:
            return None

    def texts(self) -> dict[str, str]:
        """Return all datasets as short texts."""
        return self._client.dataset_texts()

    def keys(self) -> list[str]:
        return sorted(self._client.names("dataset"))

    def entry(self, key) -> tuple:
        """Return value and metadata; KeyError. One dataset at a time: together they may be large."""
        found = self._client.dataset(key)
        if found is None:
            raise KeyError(key)
        return found[1:]

    def get(self, key):
        return self.entry(key)[0]

    def get_metadata(self, key) -> dict:
        found = self._client.dataset_metadata(key)
        if found is None:
            raise KeyError(key)
        return found

    def set(self, key, value, persist, metadata):
        self._client.set_dataset(key, value, persist, metadata)

    def delete(self, key):
        self.get_metadata(key)
        self._client.delete_dataset(key)


def list_all(args):
    """Print names and values in their units; long values are abbreviated on a terminal. A dataset
    that cannot be read is reported on standard error."""
    with _store(args) as store:
        if isinstance(store, _Laboratory) and not args.json and sys.stdout.isatty():
            texts = store.texts()
            for key in sorted(texts):
                print(f"{_printable(key)}: {texts[key]}")
            if not texts:
                print(f"there is no dataset in {store.path}")
            return
        keys = store.keys()
        if not keys and not args.json:
            print(f"there is no dataset in {store.path}")
        for key in keys:
            try:
                value, metadata = _entry(store, key)
            except UsageError as error:
                print_notice(f"kairos: {error}")
                continue
            except KeyError:
                continue  # it has been deleted meanwhile
            if args.json:
                print(_as_json(key, value, metadata))
            else:
                print(f"{_printable(key)}: {Quantity.of(metadata).text(value, sys.stdout.isatty())}")


def _entry(store, key) -> tuple:
    return store.entry(key) if isinstance(store, _Laboratory) else (store.get(key), store.get_metadata(key))


def _printable(key: str) -> str:
    """Return a name of which parts may not be UTF-8."""
    return key.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _as_json(key, value, metadata) -> str:
    """Return a line of JSON: the value as far as JSON can represent it (else null), and as PYON."""
    fields = {"key": _printable(key), "value": plain_value(value), "pyon": pyon.encode(value), "metadata": metadata}
    return json_line(fields)


def _known(store, key, action):
    try:
        return action(key)
    except KeyError:
        question = suggestion(key, store.keys()) or "; 'kairos datasets list' lists all"
        raise UsageError(f"there is no dataset {key} in {store.path}{question}") from None


def get(args):
    """Print one value, as PYON; with `json` in the format of `list_all`."""
    with _store(args) as store:
        value = _known(store, args.key, store.get)
        print(_as_json(args.key, value, store.get_metadata(args.key)) if args.json else pyon.encode(value))


def set_value(args):
    """Set a value; its metadata are unchanged."""
    text = sys.stdin.buffer.read().decode(errors="replace") if args.value == STDIN else args.value
    try:
        value = pyon.typed(text)
    except pyon.TooLarge as error:
        raise CommandLineError(str(error)) from None
    except ValueError:
        shown = text if len(text) <= pyon.SHOWN else f"{text[: pyon.SHOWN]}..."
        raise CommandLineError(f"{shown} is not a PYON value; text needs quotes, as in '\"{shown}\"'") from None
    with _store(args, new=True) as store:
        store.set(args.key, value, persist=True, metadata=_metadata(store, args.key))


def _metadata(store, key) -> dict:
    """Return the metadata of a dataset, none if it is new or damaged."""
    try:
        return store.get_metadata(key)
    except (KeyError, UsageError):
        return {}


def delete(args):
    """Delete a dataset."""
    with _store(args) as store:
        _known(store, args.key, store.delete)
