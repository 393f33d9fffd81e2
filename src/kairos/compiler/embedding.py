"""What the host remembers about a compiled kernel: the objects and strings that the device names by number."""

import itertools
from typing import Any

from ..contracts.exceptions import PREALLOCATED

__all__ = ["EmbeddingMap"]


class EmbeddingMap:
    """Numbers for host objects (from 1) and for strings (from 0, the first ones fixed)."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._object_keys: dict[int, int] = {}
        self._next_object = itertools.count(1)
        self._strings: list[str] = list(PREALLOCATED)
        self._string_keys: dict[str, int] = {text: key for key, text in enumerate(PREALLOCATED)}

    def store_object(self, obj: Any) -> int:
        """Number of an object; the same object always has the same one."""
        key = self._object_keys.get(id(obj))
        if key is None:
            key = next(self._next_object)
            # Kept alive here, so that the identity stays its own.
            self._objects[key] = obj
            self._object_keys[id(obj)] = key
        return key

    def retrieve_object(self, key: int) -> Any:
        """The object with this number; KeyError if there is none."""
        return self._objects[key]

    def store_str(self, text: str) -> int:
        """Number of a string."""
        key = self._string_keys.get(text)
        if key is None:
            key = len(self._strings)
            self._strings.append(text)
            self._string_keys[text] = key
        return key

    def retrieve_str(self, key: int) -> str:
        """The string with this number; IndexError if there is none."""
        if key < 0:
            raise IndexError(f"no string has the key {key}")
        return self._strings[key]
