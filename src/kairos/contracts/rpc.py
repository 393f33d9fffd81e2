"""Tags of remote procedure calls: the types of values, on the wire and in a kernel's memory.

Generated from src/contracts/rpc.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["END", "RETURNS", "MAX_DEPTH", "WORDS", "DTYPES"]

END = 0
"""Behind the last argument of a request."""

RETURNS = 58
"""Between the arguments and the result of a call's tag string, `:`."""

MAX_DEPTH = 32
"""Deepest nesting of types that is accepted. The grammar has no limit; a kernel core's stack has."""

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
