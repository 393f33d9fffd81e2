"""Tags of remote procedure calls: the types of values, on the wire and in a kernel's memory.

Generated from src/contracts/rpc.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["END", "RETURNS", "MAX_DEPTH", "WORDS", "DTYPES"]

END = 0
"""End mark after the last argument of a request."""

RETURNS = 58
"""Separator between arguments and result in the tag string of a call, `:`."""

MAX_DEPTH = 32
"""Maximum nesting of types. The grammar has no limit, but the stack of the kernel core does."""

WORDS = {
    "n": "None",
    "b": "bool",
    "i": "int32",
    "I": "int64",
    "f": "float",
    "s": "str",
    "B": "bytes",
    "A": "bytearray",
    "F": "Fraction",
    "O": "host object",
    "t": "tuple",
    "l": "list",
    "a": "array",
    "r": "range",
    "k": "keyword argument",
}
"""The type in messages to the user, by tag."""

DTYPES = {
    "b": "?",
    "i": "<i4",
    "I": "<i8",
    "f": "<f8",
}
"""NumPy's type of a block of such elements, by tag."""
