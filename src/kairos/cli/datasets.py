"""``kairos datasets``: persistent datasets."""

import json
import sys
from contextlib import contextmanager
from pathlib import Path

from .. import pyon
from ..errors import UsageError
from ..experiment.store import DatasetStore
from .outputs import readable

__all__ = ["delete", "get", "list_all", "set_value"]


@contextmanager
def _store(args, new=False):
    """Open the store of the command line; UsageError if it does not exist, unless it may be `new`."""
    if not (new or Path(args.dataset_db).exists()):
        raise UsageError(
            f"there is no dataset store {args.dataset_db}: it is created by runs that set datasets with persist=True"
        )
    store = DatasetStore(args.dataset_db)
    try:
        yield store
    finally:
        store.close_db()


def list_all(args):
    """Print names and values; long values are abbreviated on a terminal. As JSON: PYON texts and
    metadata by name."""
    with _store(args) as store:
        for key in store.keys():
            value = store.get(key)
            if args.json:
                print(_as_json(store, key, value))
            else:
                unit = store.get_metadata(key).get("unit", "")
                print(f"{key}: {readable(value, sys.stdout.isatty())}{f'  [{unit}]' if unit else ''}")


def _as_json(store, key, value) -> str:
    return json.dumps({"key": key, "value": pyon.encode(value), "metadata": store.get_metadata(key)})


def _known(store, key, action):
    try:
        return action(key)
    except KeyError:
        raise UsageError(f"there is no dataset {key} in {store.path}; 'kairos datasets list' lists all") from None


def get(args):
    """Print one value, as PYON; with `json` in the format of `list_all`."""
    with _store(args) as store:
        value = _known(store, args.key, store.get)
        print(_as_json(store, args.key, value) if args.json else pyon.encode(value))


def set_value(args):
    """Set a value; its metadata are unchanged."""
    try:
        value = pyon.decode(args.value)
    except ValueError:
        raise UsageError(f"{args.value} is not a PYON value; text needs quotes, as in '\"{args.value}\"'") from None
    with _store(args, new=True) as store:
        metadata = store.get_metadata(args.key) if args.key in store.keys() else {}
        store.set(args.key, value, persist=True, metadata=metadata)


def delete(args):
    """Delete a dataset."""
    with _store(args) as store:
        _known(store, args.key, store.delete)
