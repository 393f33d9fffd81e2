"""A case of a fact: a kernel body and its outcome, see `facts.py`."""

from typing import Any, NamedTuple

__all__ = ["Case", "Raises", "Refused", "Reports", "raises", "refused", "reports"]


class Reports(NamedTuple):
    """The kernel passes these values to `self.report`."""

    values: list


class Refused(NamedTuple):
    """The compiler rejects the kernel with an error that contains this text."""

    text: str


class Raises(NamedTuple):
    """The kernel raises an exception of this class, with a message that contains this text."""

    name: str
    text: str


class Case(NamedTuple):
    body: str
    outcome: Reports | Refused | Raises
    warns: str = ""
    """a warning of the compiler"""
    differs: str = ""
    """why Kairos differs from the specification"""
    host: dict[str, Any] = {}
    """attributes of `self`"""


def reports(body, *values, differs="", **host):
    """Creates a case. A body that is one expression is passed to `self.report`; statements call it themselves."""
    statements = "self.report" in body
    outcome = Reports(list(values))
    return Case(body if statements else f"self.report({body})", outcome, differs=differs, host=host)


def refused(body, text, **host):
    return Case(body, Refused(text), host=host)


def raises(body, name, text, **host):
    statements = "\n" in body or body.startswith(("raise", "assert"))
    return Case(body if statements else f"self.report({body})", Raises(name, text), host=host)
