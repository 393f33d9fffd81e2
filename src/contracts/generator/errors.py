"""What the reading of facts reports."""

__all__ = ["FactError"]


class FactError(Exception):
    """A fact is not one: the text says where and why."""
