"""Numbers and functions of the kernel language in Python: a kernel's text run with these names gives expected results.

Differences between the language and Python (docs/compiler.md): integers wrap at 32 and 64 bits,
shifts may exceed the width, `round` rounds half away from zero,
float `//` is the floor of the rounded quotient, conversions saturate, but those of `int` and `round` raise.
"""

import inspect
import math
import operator

import numpy as np

__all__ = ["NAMES", "plain"]


class Integer:
    """A signed integer with wrap-around."""

    __slots__ = ("value",)
    bits = 0

    def __init__(self, value):
        half = 1 << (self.bits - 1)
        self.value = (int(value) + half) % (2 * half) - half

    def __array_ufunc__(self, function, method, *operands, **keywords):
        """Operates as a NumPy scalar when combined with an array."""
        operands = [x.scalar(x.value) if isinstance(x, Integer) else x for x in operands]
        return getattr(function, method)(*operands, **keywords)

    def __index__(self):
        return self.value

    __int__ = __index__

    def __float__(self):
        return float(self.value)

    def __hash__(self):
        return hash(self.value)

    def __bool__(self):
        return self.value != 0

    def __repr__(self):
        return str(self.value)

    def __format__(self, form):
        return format(self.value, form)

    def __neg__(self):
        return type(self)(-self.value)

    def __pos__(self):
        return self

    def __invert__(self):
        return type(self)(~self.value)

    def __abs__(self):
        return type(self)(abs(self.value))


class Int32(Integer):
    bits = 32
    scalar = np.int32


class Int64(Integer):
    bits = 64
    scalar = np.int64


class Float(float):
    """A float whose operations never raise, except for division by zero."""

    def __neg__(self):
        return Float(-float(self))

    def __pos__(self):
        return self

    def __abs__(self):
        return Float(abs(float(self)))

    def __hash__(self):
        return super().__hash__()


def remainder(a, b):
    if b == 0:
        raise ZeroDivisionError
    return a % b


def shifted(left):
    def shift(a, b, bits):
        if b < 0:
            raise ValueError
        return (a << b if b < bits else 0) if left else a >> b

    return shift


def power(a, b, bits):
    if b < 0:
        if a == 0:
            raise ZeroDivisionError
        return 0 if abs(a) > 1 else a ** (b % 2)
    return pow(a, b, 1 << (bits + 1))


INTEGER = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": remainder,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
SIZED = {"lshift": shifted(True), "rshift": shifted(False), "pow": power}


def quotient(a, b):
    if b == 0:
        raise ZeroDivisionError
    return np.float64(a) / np.float64(b)


def rest(a, b):
    if b == 0:
        raise ZeroDivisionError
    return np.nan if math.isinf(a) or math.isnan(a) or math.isnan(b) else a % b


FLOAT = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": quotient,
    "floordiv": lambda a, b: np.floor(quotient(a, b)),
    "mod": rest,
}
ORDER = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def own(value):
    """Converts a NumPy number, as from an array element, to a number of the language."""
    if isinstance(value, np.integer):
        return (Int32 if value.dtype == np.int32 else Int64)(value)
    return Int32(value) if type(value) is int else value


def arithmetic(name):
    """Returns a function computing `left name right`, or None for unsupported operands."""

    def apply(left, right):
        if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
            left, right = (x.scalar(x.value) if isinstance(x, Integer) else x for x in (left, right))
            return getattr(operator, name)(left, right)
        sides = left, right = [own(side) for side in (left, right)]
        if not all(isinstance(side, Integer | float | bool | int) for side in sides):
            return NotImplemented
        if name == "truediv" or any(isinstance(side, float) for side in sides):
            with np.errstate(all="ignore"):
                return Float(FLOAT[name](float(left), float(right)))
        kind = Int64 if any(isinstance(side, Int64) for side in sides) else Int32
        if name in SIZED:
            return kind(SIZED[name](int(left), int(right), kind.bits))
        return kind(INTEGER[name](int(left), int(right)))

    return apply


def comparison(name):
    def apply(left, right):
        if not isinstance(right, Integer | float | bool | int):
            return NotImplemented
        if isinstance(left, float) or isinstance(right, float):
            left, right = float(left), float(right)
        else:
            left, right = int(left), int(right)
        return ORDER[name](left, right)

    return apply


for _name in {*INTEGER, *SIZED, *FLOAT}:
    _apply = arithmetic(_name)
    for _kind in (Integer, Float):
        if _kind is Float and _name not in FLOAT:
            continue
        setattr(_kind, f"__{_name}__", _apply)
        setattr(_kind, f"__r{_name}__", lambda self, other, apply=_apply: apply(other, self))
for _name in ORDER:
    for _kind in (Integer, Float):
        setattr(_kind, f"__{_name}__", comparison(_name))


def integer(kind):
    half = 1 << (kind.bits - 1)

    def convert(value):
        if isinstance(value, Whole):
            if math.isnan(value):
                raise ValueError("cannot convert float NaN to integer")
            if not -half <= value < half:
                raise OverflowError(f"the float is too large for an int{kind.bits}")
            return kind(int(value))
        if isinstance(value, float):
            if math.isnan(value):
                return kind(0)
            return kind(
                max(-half, min(half - 1, int(value) if math.isfinite(value) else int(math.copysign(half, value))))
            )
        return kind(value)

    return convert


class Whole(float):
    """A float that `int` or `round` has freed of its fraction: as an integer of some width it must fit."""


def truncated(value):
    value = float(value)
    return Whole(math.trunc(value) if math.isfinite(value) else value)


def rounded(value):
    value = float(value)
    if not math.isfinite(value):
        return Whole(value)
    whole = math.floor(abs(value))
    return Whole(math.copysign(whole + (abs(value) - whole >= 0.5), value))


class Range:
    """`range` of integers of one width."""

    def __init__(self, *bounds):
        kind = type(bounds[0])
        self.kind = kind if issubclass(kind, Integer) else Int32
        self.range = range(*map(int, bounds))

    def __iter__(self):
        return map(self.kind, self.range)

    def __len__(self):
        return len(self.range)

    def __getitem__(self, index):
        return self.kind(self.range[int(index)])

    def __contains__(self, value):
        return int(value) in self.range


def each(values):
    """Yields the elements as numbers of the language."""
    return (Float(value) if isinstance(value, float) else own(value) for value in values)


def total(values, start=0):
    for value in each(values):
        start = start + value
    return start


def first_unless(order):
    """Returns `min` or `max`, of two values or of elements."""

    def found(first, *second, default=None):
        best = None
        for value in (first, *second) if second else each(first):
            best = value if best is None or order(value, best) else best
        return default if best is None else best

    return found


def in_order(values, reverse=False, key=lambda value: value):
    """Sorts by bottom-up merging. With NaNs, the result depends on the algorithm."""
    runs = [[(own(key(value)), value)] for value in each(values)]
    while len(runs) > 1:
        pairs = [(runs[n], runs[n + 1] if n + 1 < len(runs) else []) for n in range(0, len(runs), 2)]
        runs = [merged(left, right, operator.gt if reverse else operator.lt) for left, right in pairs]
    return [value for _, value in runs[0]] if runs else []


def merged(left, right, sooner):
    left, right, found = list(left), list(right), []
    while left or right:
        take_right = not left or (right and sooner(right[0][0], left[0][0]))
        found.append((right if take_right else left).pop(0))
    return found


def compiled(function):
    """Decorates a kernel: bools passed for integer parameters are converted to integers."""
    names = list(inspect.signature(function).parameters)
    integers = {name: kind for name, kind in function.__annotations__.items() if kind in (Int32, Int64)}

    def converted(name, value):
        return integers[name](value) if name in integers and isinstance(value, bool | np.bool_) else value

    def called(*args, **keywords):
        keywords = {name: converted(name, value) for name, value in keywords.items()}
        return function(*map(converted, names, args), **keywords)

    return called


def is_instance(value, kind):
    """Returns whether the value has the language's type of this name."""
    return isinstance(value, TYPES.get(kind, kind))


def of_floats(function):
    def apply(x):
        with np.errstate(all="ignore"):
            return function(x) if isinstance(x, np.ndarray) else Float(function(float(x)))

    return apply


def quiet(function):
    """Wraps a NumPy function to accept numbers of the language."""

    def apply(*values, **keywords):
        values = [value.scalar(value.value) if isinstance(value, Integer) else value for value in values]
        with np.errstate(all="ignore"):
            return own(function(*values, **keywords))

    return apply


class NumPy:
    """The NumPy functions available in kernels."""

    array = staticmethod(lambda values: np.array(plain(values), dtype=dtype(values)))
    any, all = staticmethod(lambda x: bool(np.any(x))), staticmethod(lambda x: bool(np.all(x)))
    max, min, sum = (staticmethod(quiet(function)) for function in (np.max, np.min, np.sum))
    where, clip = (staticmethod(quiet(function)) for function in (np.where, np.clip))
    sqrt, floor, ceil, trunc, rint, fabs = map(
        staticmethod, map(of_floats, (np.sqrt, np.floor, np.ceil, np.trunc, np.rint, np.fabs))
    )


def dtype(values):
    first = values[0]
    if isinstance(first, list):
        return dtype(first)
    return first.scalar if isinstance(first, Integer) else np.float64


def plain(value):
    """Converts a value to the form in which the host receives it from a kernel."""
    if isinstance(value, Integer):
        return value.value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, float):
        return float(value)
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, tuple):
        return tuple(plain(element) for element in value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value


NAMES = {
    "int32": integer(Int32),
    "int64": integer(Int64),
    "float": lambda x: Float(float(x)),
    "int": truncated,
    "round": rounded,
    "range": Range,
    "min": first_unless(operator.lt),
    "max": first_unless(operator.gt),
    "divmod": lambda a, b: (a // b, a % b),
    "pow": lambda a, b: a**b,
    "list": lambda values: list(each(values)),
    "enumerate": lambda values, start=0: ((Int32(int(start) + i), value) for i, value in enumerate(each(values))),
    "zip": lambda *iterables: zip(*map(each, iterables), strict=False),
    "reversed": lambda values: each(reversed(values)),
    "sum": total,
    "len": lambda x: Int32(len(x)),
    "sorted": in_order,
    "isinstance": is_instance,
    "np": NumPy,
    "kernel": compiled,
    "portable": compiled,
    "TInt32": Int32,
    "TInt64": Int64,
    "TFloat": float,
    "TBool": bool,
    "TStr": str,
    "TNone": None,
}
"""Names of the language that do not exist in Python, or differ there."""

TYPES = {NAMES["int"]: (Int32, Int64, bool), NAMES["int32"]: Int32, NAMES["int64"]: Int64, NAMES["float"]: float}
"""Maps names to the types that `isinstance` accepts for them."""
