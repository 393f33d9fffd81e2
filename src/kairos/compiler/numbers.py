"""Lists of numbers in a call, each inspected only once however often it is requested.

Cached kernels are compared with the host entry by entry, so a list of a million numbers is queried
repeatedly.
"""

from collections.abc import Callable

from kairos.compiler.annotations import QuotingError

__all__ = ["INT64", "Numbers", "integer"]

INT64 = range(-(2**63), 2**63)


def integer(value: int) -> tuple:
    """Return the tuple of an integer whose width is inferred from its use. QuotingError beyond 64
    bits."""
    if value not in INT64:
        raise QuotingError(f"the integer {value} does not fit into 64 bits")
    return ("int", value)


class _Copy:
    def __init__(self, original: list, elements: list) -> None:
        self.original, self.elements = original, elements
        self.digest: bytes | None = None


class Numbers:
    """Copies of lists of numbers. They live as long as this object, so identities of lists and
    copies stay unique."""

    def __init__(self) -> None:
        self._of_lists: dict[int, _Copy] = {}
        self._of_elements: dict[int, _Copy] = {}

    def copied(self, values: list | tuple) -> list | None:
        """Return the elements if all are int or all float; None otherwise. QuotingError beyond 64
        bits."""
        known = self._of_lists.get(id(values))
        if known and known.elements == values:
            return known.elements
        if not values or type(values[0]) not in (int, float):
            return None
        kinds = set(map(type, values))
        if kinds not in ({int}, {float}):
            return None
        if kinds == {int}:
            integer(min(values)), integer(max(values))
        elements = list(values)
        if isinstance(values, list):
            self._of_lists[id(values)] = self._of_elements[id(elements)] = _Copy(values, elements)
        return elements

    def digested(self, answer: object, digest: Callable[[object], bytes]) -> object:
        """Return an answer of the host with the digest in place of the elements, if it is one of
        these lists."""
        match answer:
            case ("list", key, elements) if copy := self._of_elements.get(id(elements)):
                copy.digest = copy.digest or digest(copy.elements)
                return "list", key, copy.digest
        return answer
