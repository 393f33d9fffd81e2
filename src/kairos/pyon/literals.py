"""Values of Python literals, read without a syntax tree: that of a line of 4 MiB takes 2 GB and 8 s."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping

__all__ = ["number_of", "value_of"]

_TOKEN = r"""
    [ \t\f\r\n]*+ (?:
    (?P<number> (?: 0[xXoObB][\da-fA-F_]++ | (?: \d[\d_]*+\.?[\d_]*+ | \.\d[\d_]*+ ) (?:[eE][+-]?\d[\d_]*+)?+ [jJ]?+ )
        (?!\w) )
    | (?P<text> (?: [bBrRuU] | [bB][rR] | [rR][bB] )?+ (?:
          '''(?: [^'\\]++ | \\. | '(?!'') )*+''' | \"""(?: [^"\\]++ | \\. | "(?!"") )*+\"""
        | '(?!'') (?: [^'\\\n]++ | \\. )*+ ' | "(?!"") (?: [^"\\\n]++ | \\. )*+ "
      ) )
    | (?P<name> [^\W\d]\w*+ )
    | (?P<sign> [-+] )
    | (?P<mark> [][(){},:] )
    | (?P<end> \Z )
    )"""
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def value_of(text: str, names: Mapping[str, object], calls: Mapping[str, Callable]):
    """Return the value of an expression of literals, `names`, `calls` by name, and signs between and before numbers.
    ValueError, TypeError and others if it is none."""
    return _Reader(text, names, calls).whole()


def number_of(value):
    """Return the value if it is a number; otherwise ValueError."""
    if type(value) not in (int, float, complex):
        raise ValueError
    return value


def _number(text: str):
    if text[-1] in "jJ":
        return complex(text)
    try:
        # With base 0 as in Python: 0777 is no number.
        return int(text, 0)
    except ValueError:
        if not set(text) & set(".eE"):
            raise
        return float(text)


def _text(token: str):
    # Most have no escapes, and an opening quotation mark alone.
    is_plain = token[0] in "'\"" and "\\" not in token and token[:3] != token[:1] * 3
    return token[1:-1] if is_plain else ast.literal_eval(token)


class _Reader:
    """Reads values token by token; `kind` and `token` are what comes next."""

    def __init__(self, text: str, names: Mapping[str, object], calls: Mapping[str, Callable]):
        self._names, self._calls = names, calls
        self._tokens = self._read(text)
        self._advance()

    @staticmethod
    def _read(text: str) -> Iterator[tuple[str, str]]:
        place = 0
        token = re.compile(_TOKEN, re.ASCII | re.DOTALL | re.VERBOSE).match  # kept by `re`
        while found := token(text, place):
            kind = found.lastgroup
            yield kind, found[kind]
            place = found.end()
        raise ValueError

    def _advance(self):
        self.kind, self.token = next(self._tokens)

    def _take(self, mark: str) -> bool:
        """Pass over `mark` if it comes next."""
        if self.kind != "mark" or self.token != mark:
            return False
        self._advance()
        return True

    def whole(self):
        """The value of the whole text; several make a tuple, as in Python."""
        values, commas = self._several(lambda: self.kind == "end")
        if self.kind != "end" or not values:
            raise ValueError
        return tuple(values) if commas else values[0]

    def _several(self, ended: Callable[[], bool], one: Callable | None = None) -> tuple[list, int]:
        """Values with commas between them, up to where they have `ended`; and the number of commas."""
        values: list = []
        commas = 0
        one = one or self._sum
        while not ended():
            if commas != len(values):
                raise ValueError
            values.append(one())
            commas += self._take(",")
        return values, commas

    def _sum(self):
        value = self._signed()
        while self.kind == "sign":
            sign = self.token
            self._advance()
            one, other = number_of(value), number_of(self._signed())
            value = one - other if sign == "-" else one + other
        return value

    def _signed(self):
        if self.kind != "sign":
            return self._one()
        sign = self.token
        self._advance()
        value = number_of(self._signed())
        return -value if sign == "-" else value

    def _one(self):
        kind, token = self.kind, self.token
        self._advance()
        if kind == "number":
            return _number(token)
        if kind == "text":
            return self._joined(token)
        if kind == "name":
            return self._named(token)
        if kind != "mark" or token not in _CLOSING:
            raise ValueError
        return self._enclosed(token)

    def _joined(self, token: str):
        value = _text(token)
        while self.kind == "text":
            value += _text(self.token)
            self._advance()
        return value

    def _named(self, name: str):
        if self._take("("):
            arguments, _ = self._several(lambda: self._take(")"))
            return self._calls[name](*arguments)
        return self._names[name]

    def _enclosed(self, opening: str):
        ended = lambda: self._take(_CLOSING[opening])  # noqa: E731
        if opening == "{":
            return self._braces(ended)
        values, commas = self._several(ended)
        if opening == "[":
            return values
        return values[0] if values and not commas else tuple(values)

    def _braces(self, ended: Callable[[], bool]):
        pairs: list[bool] = []

        def one():
            key = self._sum()
            pairs.append(is_pair := self._take(":"))
            return (key, self._sum()) if is_pair else key

        values, _ = self._several(ended, one)
        if len(set(pairs)) > 1:
            raise ValueError
        return set(values) if pairs and not pairs[0] else dict(values)
