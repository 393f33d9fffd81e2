"""The numbered facts of the language specification, each as programs for the device.

A case (`cases.py`) is a kernel body and its outcome. `differs` explains where Kairos deliberately
follows Python, or accepts code that the specification's compiler rejects; the case then describes
Kairos. `ELSEWHERE` names the tests that cover other facts.
"""

import numpy as np

from .cases import Case, raises, refused, reports

__all__ = ["CASES", "ELSEWHERE", "NUMBERS"]

NUMBERS = range(1, 193)


ZERO = ("ZeroDivisionError", "cannot divide by zero")
PYTHON = "Python-correct"
BEYOND = "Python's, which the reference does not have"

CASES: dict[int, list[Case]] = {
    1: [reports("2147483647 + self.one", -2147483648, one=1)],
    2: [reports("2147483648", 2147483648), reports("0x80000000", 2147483648)],
    3: [refused("self.report(9223372036854775808)", "out of range")],
    4: [reports("3000000000 + 1", 3000000001)],
    5: [reports("self.big * 2", -2, big=0x7FFFFFFF), reports("int64(self.big) * 2", 4294967294, big=0x7FFFFFFF)],
    6: [reports("self.a // 2, 7 // self.b", -4, -4, a=-7, b=-2, differs=PYTHON)],
    7: [reports("self.a % 2, 7 % self.b, -1 % 8", 1, -1, 7, a=-7, b=-2)],
    8: [reports("self.a // 2.0, self.a % 2.0, 7.5 % -2.0", -4.0, 0.5, -0.5, a=-7.5)],
    9: [reports("1 / 3, 4 / 2", 1 / 3, 2.0)],
    10: [raises(f"{one} self.z", *ZERO, z=0) for one in ("1 /", "1 //", "1 %")]
    + [raises("1.0 / self.z", *ZERO, z=0.0)],
    11: [raises("x = 5\nx //= self.z\nself.report(x)", *ZERO, z=0)._replace(differs=PYTHON)],
    12: [reports("2 ** -1, 2.0 ** -1.0, (-2) ** 3", 0, 0.5, -8)],
    13: [reports("-2 ** 2, 2 ** 3 ** 2", -4, 512)],
    14: [
        reports("1 << self.n, -1 >> 40, -8 >> 1", -2147483648, -1, -4, n=31),
        reports("1 << 32", 1 << 32, differs="constants are exact"),
    ],
    15: [raises("1 << self.n", "ValueError", "shift amount must be nonnegative", n=-1)],
    16: [refused("self.report(1 << 2.0)", "integer type")],
    17: [reports("~5", -6), refused("self.report(~1.0)", "error")],
    18: [reports("True + self.one, True == 1, -True, abs(True)", 2, True, -1, 1, differs=BEYOND, one=1)],
    19: [reports("int32(1) + int64(2)", 3)],
    20: [
        refused("a = int32(1)\nb = int64(2)\na = b", "cannot unify numpy.int32 with numpy.int64"),
        refused("a = int32(1)\na = self.b", "cannot unify numpy.int32 with numpy.int64", b="int64"),
    ],
    21: [reports("y = 1\ny = int64(1) << 40\nself.report(y)", 1 << 40)],
    22: [reports("1 == 1.0, 1 < int64(5)", True, True)],
    23: [
        reports("self.n == self.n, self.n != self.n", False, True, n=float("nan")),
        reports("bool(self.n)", True, differs=PYTHON, n=float("nan")),
    ],
    24: [reports("int(2.9), int(-2.9), int(), float()", 2, -2, 0, 0.0)],
    25: [reports("int32(int64(3000000000))", -1294967296)],
    26: [reports("round(0.5), round(1.5), round(2.5), round(-2.5)", 1, 2, 3, -3)],
    27: [refused("self.report(round(1))", "cannot unify float with numpy.int")],
    28: [reports("int64(round(self.f))", 3000000000000, f=3e12), reports("round(2.6)", 3)],
    29: [
        refused("self.report(int('1'))", "int cannot be invoked with the arguments (str)"),
        refused("self.report(float('1'))", "float cannot be invoked with the arguments (str)"),
        reports("str(self.n), float(True), int32(True)", "1", 1.0, 1, differs=BEYOND, n=1),
    ],
    30: [
        reports("min(1, 2)", 1),
        refused("self.report(min(1, 2.0))", "cannot unify"),
        reports("min(3, 1, 2), max([1, 2])", 1, 2, differs=BEYOND),
    ],
    31: [refused("self.report(1j)", "numeric type complex is not supported")],
    32: [refused("x = 1\nx += 1.5", "cannot be assigned")],
    33: [reports("x = 1.0\nx += 1\nself.report(x)", 2.0)],
    34: [refused("x = 5\nx /= 2", "cannot be assigned")],
    35: [
        reports("1 and 2, 0 or 5", 2, 5),
        refused("self.report(1 or 2.0)", "error"),
        refused("self.report(True and 1)", "cannot unify bool with numpy.int"),
    ],
    36: [
        refused("self.report(3 if True else 4.0)", "cannot unify"),
        reports("1 if self.n else 2, 1 if [0][1:] else 2", 1, 2, n=-1, differs=PYTHON),
    ],
    37: [
        reports("self.report(not 0.0)\nself.report(not 'a')\nif 1:\n    self.report(7)", True, False, 7),
        reports("x = 2\nwhile x:\n    x -= 1\nself.report(x)", 0),
    ],
    38: [
        reports("assert 1\nassert 'a'\nassert self.n\nself.report(1)", 1, n=0.5, differs=PYTHON),
        raises("assert ()", "AssertionError", "AssertionError")._replace(differs=PYTHON),
        raises("x = 'a'\nassert 1 == 2, x", "AssertionError", "a")._replace(differs=BEYOND),
    ],
    39: [
        raises("assert self.no == 1, 'boo'", "AssertionError", "boo", no=0),
        raises("assert self.no == 1", "AssertionError", "AssertionError", no=0),
    ],
    40: [reports("1 < 2 < 3, 3 > 2 > 2, 1 != 2 != 1", True, False, True)],
    41: [reports("1 < 2 or 1 // self.z > 0", True, z=0)],
    42: [
        reports("x = None\nself.report(x is None)", True),
        reports("x = 5\nself.report(x is None, x != None)", False, True, differs=BEYOND),
    ],
    43: [refused("x = None\nx = 1", "error")],
    44: [reports("(1, 2) == (1, 2)", True), refused("self.report((1, 2) == (1, 2, 3))", "error")],
    45: [reports("(1, 2) < (2, 3)", True), reports("(1, 2) < (2, 1)", True, differs=PYTHON)],
    46: [reports("[1, 2] == [1, 2]", True), refused("self.report([1] == [1.0])", "cannot unify list(elt=numpy.int?)")],
    47: [reports("x = y = 3\na, (b, c) = 1, (2, y)\na, b = b, a\nself.report(x, a, b, c)", 3, 2, 1, 3)],
    48: [
        refused("a, b = [1, 2]", "error"),
        reports("[a, b] = self.l\nself.report(a, b)", 1, 2, l=[1, 2]),
        raises(
            "[a, b] = self.l\nself.report(a)", "ValueError", "list must be 2 elements long to decompose", l=[1, 2, 3]
        ),
    ],
    49: [refused("a, b = 1, 2, 3", "error")],
    50: [
        reports("a = self.l\na[0], a[1] = a[1], a[0]\nself.report(a)", [2, 1], l=[1, 2]),
        reports("a = self.l\ni = 0\ni, a[i] = 1, 5\nself.report(a)", [1, 5], l=[1, 2]),
    ],
    51: [
        reports("for i in range(2):\n    pass\nelse:\n    self.report(1)", 1),
        reports("self.report(0)\nfor i in range(2):\n    break\nelse:\n    self.report(1)", 0),
    ],
    52: [
        reports("i = 0\nwhile i < 2:\n    i += 1\nelse:\n    self.report(i)", 2),
        reports("self.report(0)\nwhile True:\n    break\nelse:\n    self.report(1)", 0),
    ],
    53: [refused("for i in range(3):\n    pass\nself.report(i)", "variable 'i' is not always initialized")],
    54: [reports("i = 5\nfor i in [1, 2]:\n    pass\nself.report(i)", 2)],
    55: [refused("if self.c:\n    y = 1\nself.report(y)", "not always initialized", c=True)],
    56: [reports("if self.c:\n    y = 1\nelse:\n    y = 2\nself.report(y)", 1, c=True)],
    57: [reports("while True:\n    x = 1\n    break\nself.report(x)", 1, differs=PYTHON)],
    58: [reports("try:\n    x = 1\nfinally:\n    pass\nself.report(x)", 1)],
    59: [refused("self.report(GLOBAL)\nGLOBAL = 2", "variable 'GLOBAL' is not always initialized here")],
    60: [reports("self.report(1)\nreturn\nself.report(2)", 1)._replace(warns="unreachable code")],
    61: [refused("if self.n == 1:\n    return 1", "must return a value of type numpy.int32 explicitly", n=1)],
    62: [raises("if self.n == 1:\n    return 1\nraise ValueError('end')", "ValueError", "end", n=2)],
    63: [
        reports(
            "while True:\n    self.n += 1\n    if self.n == 3:\n        self.report(self.n)\n        return 1",
            3,
            differs=PYTHON,
            n=0,
        )
    ],
    65: [
        reports(
            "try:\n    self.report(1)\nexcept ValueError:\n    pass\nelse:\n    self.report(2)\nfinally:\n    self.report(3)",
            1,
            2,
            3,
        )
    ],
    66: [reports("def f():\n    try:\n        return 10\n    finally:\n        return 30\nself.report(f())", 30)],
    67: [reports("try:\n    self.report(1)\n    raise ValueError\nfinally:\n    return", 1)],
    68: [
        reports(
            "for i in range(3):\n    try:\n        if i == 1:\n            break\n    finally:\n        self.report(i)",
            0,
            1,
        ),
        reports("for i in range(2):\n    try:\n        continue\n    finally:\n        self.report(i)", 0, 1),
    ],
    69: [
        reports("x = [1, int64(2) << 40]\nself.report(x[1])", 1 << 41),
        refused("self.report([1, 2.0])", "cannot unify numpy.int? with float"),
    ],
    70: [
        reports("x = []\nself.report(len(x))", 0, differs=PYTHON),
        reports("n = 0\nfor s in []:\n    n += s.measure()\nself.report(n)", 0, differs=PYTHON),
    ],
    71: [reports("x = []\nx = [1]\nself.report(x)", [1]), reports("x = list()\nx = [1]\nself.report(x)", [1])],
    72: [reports("[0] * 3, 3 * [7], len([1, 2] * 0)", [0, 0, 0], [7, 7, 7], 0)],
    73: [reports("x = [[0] * 2] * 2\nx[0][0] = 1\nself.report(x[1][0])", 1)],
    74: [reports("a = [1]\nb = a\nb[0] = 2\nself.report(a[0])", 2)],
    76: [
        reports(
            "x = self.l\nself.report(x[1:])\nself.report(x[:2])\nself.report(x[-2:])",
            [2, 3],
            [1, 2],
            [2, 3],
            l=[1, 2, 3],
        ),
        reports("len(self.l[0:0])", 0, l=[1, 2, 3]),
    ],
    77: [
        raises("self.l[5]", "IndexError", "index 5 out of bounds 0:3", l=[1, 2, 3]),
        raises("self.l[-4]", "IndexError", "out of bounds 0:3", l=[1, 2, 3]),
        reports("len(self.l[3:]), len(self.l[0:5])", 0, 3, l=[1, 2, 3], differs=PYTHON),
    ],
    78: [reports("x = [0][1:]\nself.report(len(x[:]))", 0, differs=PYTHON)],
    79: [reports("self.l[4:0:-1]", [5, 4, 3, 2], l=[1, 2, 3, 4, 5])],
    80: [reports("x = [0] * 5\nx[0:5:2] = [1, 2, 3]\nself.report(x)", [1, 0, 2, 0, 3])],
    81: [raises("self.l[::self.z]", "ValueError", "step cannot be zero", l=[1, 2], z=0)],
    82: [
        reports("m = self.l[1:]\nm[0] = 9\nself.report(self.l)", [1, 2, 3], l=[1, 2, 3]),
        reports("a = np.array([1, 2, 3])\nm = a[1:]\nm[0] = 9\nself.report(a[1])", 9),
    ],
    83: [
        refused("x = [1]\nx += [3]", "lists cannot be mutated in-place"),
        refused("x = [1]\nx += [3]", "help: write a = a + b"),
        refused("x = bytearray(b'a')\nx += b'b'", "bytearrays cannot be mutated in-place"),
    ],
    84: [reports("x = [1]\nfor i in range(2):\n    x = x + [i]\nself.report(x)", [1, 0, 1])],
    85: [refused("x = [1]\nx.append(3)", "does not have an attribute 'append'")],
    86: [
        reports("'a' + 'b'", "ab"),
        refused("self.report('a'.upper())", "does not have an attribute 'upper'"),
        refused("self.report('a' * 3)", "'*' on str is not supported"),
        refused("self.report('%d' % 5)", "'%' on str is not supported"),
    ],
    87: [
        reports("'abc'[0:2]", "ab"),
        reports("'abc'[0], [c for c in 'ab'], 'a' in 'abc'", "a", ["a", "b"], True, differs=BEYOND),
    ],
    90: [
        reports("t = (1, 2)\nself.report(t[0])", 1),
        reports("t = (1, 2)\nself.report(t[-1])", 2, differs=BEYOND),
        refused("t = (1, 2)\ni = 1\nself.report(t[i])", "constant"),
        refused("t = (1, 2)\nself.report(t[2])", "error"),
        refused("t = (1, 2)\nt[0] = 5", "tuple"),
    ],
    91: [
        reports("len((1, 2)), 3 in (1, 2, 3)", 2, True, differs=BEYOND),
        reports("for x in (1, 2):\n    self.report(x)", 1, 2, differs=BEYOND),
    ],
    92: [reports("(1,) + (2.0,)", (1, 2.0)), refused("self.report((1,) * 2)", "'*' on (numpy.int?,) is not supported")],
    88: [reports("len('é'), len('日本')", 1, 2, differs="in characters, as Python's")],
    89: [
        reports('b"ab"[0]', 97),
        refused('x = b"ab"\nx[0] = 1', "type bytes is not mutable"),
        reports('x = bytearray(b"ab")\nx[1] = 7\nself.report(x[1])', 7),
    ],
    93: [
        reports("[x * x for x in self.l]", [1, 4], l=[1, 2]),
        reports("[x for x in self.l if x > 1]", [2], l=[1, 2], differs=BEYOND),
        reports("[x for x in self.l for y in self.l]", [1, 1, 2, 2], l=[1, 2], differs=BEYOND),
    ],
    94: [reports("[a + b for a, b in [(1, 2), (3, 4)]]", [3, 7])],
    95: [
        reports("r = range(10)\nself.report(r[-1], r.start, r.stop, r.step)", 9, 0, 10, 1),
        reports("range(3) is range(0, 3, 1)", True),
    ],
    96: [reports("5 in range(0, 10, 2), 4 in range(0, 10, 2), 4 in range(10, 0, -2)", False, True, True)],
    97: [
        reports("for i in range(10, 0, -3):\n    self.report(i)", 10, 7, 4, 1, differs=PYTHON),
        reports("for i in range(1, 10, 3):\n    self.report(i)", 1, 4, 7),
    ],
    98: [
        refused(body, "not supported")
        for body in (
            *("x = {}", "x = {1: 2}", "del self.x", "import math", "yield 1"),
            *("a, *b = [1, 2]", "x = (i for i in [1])"),
        )
    ],
    99: [
        reports("f'{self.n}'", "5", differs=BEYOND, n=5),
        reports("x: TInt64 = 1\nself.report(x << 40)", 1 << 40, differs=BEYOND),
        reports("def f(a, *, b):\n    return a - b\nself.report(f(3, b=1))", 2, differs=BEYOND),
    ],
    100: [raises("a = np.array([self.l, [3]])\nself.report(a[0, 0])", "ValueError", "rectangular", l=[1, 2])],
    101: [
        refused("a = np.array((1, 2))", "the argument of array() must be of an iterable type"),
        reports("a = np.array(range(3))\nself.report(a[0], a[1], a[2], a.shape)", 0, 1, 2, (3,)),
    ],
    102: [
        raises("a = np.array(self.l) + np.array([1, 2, 3])\nself.report(a[0])", "ValueError", "broadcast", l=[1, 2]),
        refused("a = np.array([1, 2]) + np.array([[1, 2]])", "error"),
    ],
    103: [
        reports("a = np.array([1, 2]) / 2\nself.report(a[0])", 0.5),
        refused("a = np.array([1, 2])\na += np.array([0.5, 1.5])", "error"),
    ],
    104: [
        refused("a = np.array([1, 3])\nb = a & a", "operator '&' not valid for array types"),
        reports(
            "a = np.array([True, False])\nb = a & np.array([True, True])\nself.report(b[0], b[1])", True, False
        )._replace(differs=BEYOND),
    ],
    105: [
        reports(
            "a = np.array([[1, 2], [3, 4]])\nr = a[0]\nr[1] = 9\nself.report(a[0, 1], a[1, 0], a[-1, -1])", 9, 3, 4
        ),
        refused("a = np.array([1, 2])\nself.report(a[1, 2])", "too many indices"),
    ],
    106: [
        reports("self.v @ self.v", 14.0, v=[1.0, 2.0, 3.0]),
        reports("a = self.m @ self.m\nself.report(a[1, 1])", 22, m=[[1, 2], [3, 4]]),
        reports(
            "a = np.array([[1, 2, 3], [4, 5, 6]])\nc = a @ np.array([[1, 2], [3, 4], [5, 6]])\nself.report(c.shape, c[1, 1])",
            (2, 2),
            64,
        ),
        reports("a = self.m @ self.v\nself.report(a[0], a[1])", 17, 39, m=[[1, 2], [3, 4]], v=[5, 6]),
    ],
    107: [
        refused("self.report([1] @ [2])", "'@' on list"),
        refused("a = np.array([[[1]]])\nself.report(a @ a)", "'@' works on arrays of one or two dimensions"),
    ],
    108: [
        reports("a = np.array([[1, 2, 3]])\nself.report(a.shape)", (1, 3)),
        refused("a = np.array([1])\na.shape = (1,)", "error"),
        reports("a = np.array([[1, 2]])\nself.report(a.T.shape)", (2, 1), differs=BEYOND),
    ],
    109: [
        reports("a = np.full((2, 3), 1.5)\nself.report(a[1, 2], a.shape)", 1.5, (2, 3)),
        reports("a = np.full(3, 0)\nself.report(len(a))", 3),
    ],
    111: [
        reports("np.sqrt(4.0)", 2.0),
        refused("self.report(np.sqrt(4))", "cannot unify float with numpy.int?"),
        reports("a = np.sin(np.array([0.0, 0.0]))\nself.report(a[1])", 0.0),
        reports("a = np.arctan2(np.array([0.0, 1.0]), 1.0)\nself.report(a[0])", 0.0),
    ],
    112: [reports("np.rint(41.5)", 42.0), reports("np.rint(2.5)", 2.0, differs="halves to even, as NumPy's")],
    113: [
        refused("self.report(math.sin(1.0))", "math.sin is not supported in kernels: use numpy.sin")._replace(
            differs="an error where the reference asks the host for nothing"
        ),
        reports("math.pi", 3.141592653589793),
    ],
    114: [reports("self.a[1] << 40", 1 << 41, a="int64s"), reports("self.x", 0.5, x=np.float32(0.5), differs=BEYOND)],
    124: [reports("x = 1\ndef f():\n    return x\nx = 2\nself.report(f())", 2)],
    125: [reports("x = 1\ndef f():\n    nonlocal x\n    x = 5\nf()\nself.report(x)", 5)],
    128: [reports("isinstance(self.n, int), [i for i, _ in enumerate([5, 6])]", True, [0, 1], differs=BEYOND, n=1)]
    + [
        reports(f"try:\n    raise {name}\nexcept {name}:\n    self.report(1)", 1, differs=BEYOND)
        for name in ("KeyError", "NotImplementedError")
    ],
    129: [
        refused("self.report(rouned(1.0))", "is not bound to anything"),
        refused("foo = 1\nself.report(fo0)", "did you mean 'foo'?"),
    ],
    130: [reports("(lambda x, y=1: x + y)(1)", 2)],
    132: [
        refused("self.l = [1]", "does not outlive", l=[1]),
        reports("self.l[0] = 5\nself.report(self.l)", [5], l=[1]),
        reports("self.l = self.k\nself.report(self.l)", [2], l=[1], k=[2]),
    ],
    143: [reports("self.x = now_mu()\nself.report(self.x >= 0)", True, x="int64")],
    144: [refused("self.y = 1", "host object does not have an attribute")],
    147: [refused("self.fixed = 1", "cannot assign to constant attribute", fixed=2)],
    140: [reports("self.report('a')\nself.report(1)", "a", 1)],
    150: [
        reports("try:\n    raise IndexError('derived')\nexcept LookupError:\n    self.report(1)", 1, differs=PYTHON),
        reports("try:\n    raise IndexError('derived')\nexcept Exception:\n    self.report(1)", 1),
    ],
    152: [raises("m = 'text'\nraise ValueError(m)", "ValueError", "text")._replace(differs=BEYOND)],
    153: [
        raises("raise ValueError('a {0} {1} {2}', 1, 2, 3)", "ValueError", "a 1 2 3"),
        refused("raise ValueError('a', 1, 2, 3, 4)", "error"),
        refused("raise ValueError(message='a')", "takes no keyword arguments"),
    ],
    154: [raises("raise ValueError('{foo}')", "ValueError", "{foo}")],
    159: [
        refused("delay(1)", "float"),
        reports("t = now_mu()\ndelay(1.0)\ndelay_mu(5)\nself.report(now_mu() - t)", 1000000005),
        refused("delay_mu(self.n)", "cannot unify numpy.int64 with numpy.int32", n=5),
    ],
    160: [reports("t = now_mu()\ndelay(1.5e-9)\nself.report(now_mu() - t)", 2)],
    161: [
        reports(
            "t = now_mu()\nwith parallel:\n    delay_mu(5)\n    delay_mu(10)\n    with sequential:\n        delay_mu(3)\n"
            "        delay_mu(4)\nself.report(now_mu() - t)",
            10,
        )
    ],
    162: [
        reports(
            "t = now_mu()\nwith parallel:\n    for i in range(3):\n        delay_mu(1)\n    if True:\n        delay_mu(2)\n"
            "        delay_mu(9)\nself.report(now_mu() - t)",
            11,
        )
    ],
    163: [reports("at_mu(100)\nwith parallel:\n    delay_mu(-50)\nself.report(now_mu())", 100)],
    164: [
        reports(
            "t = now_mu()\nwith parallel:\n    delay_mu(5)\n    with parallel:\n        delay_mu(8)\n        delay_mu(2)\n"
            "self.report(now_mu() - t)",
            8,
        )
    ],
    165: [
        reports(
            "t = now_mu()\nwith parallel:\n    x = now_mu()\n    with sequential:\n        delay_mu(7)\n        y = now_mu()\n"
            "    z = now_mu()\nself.report(x - t, y - t, z - t, now_mu() - t)",
            0,
            7,
            0,
            7,
        )
    ],
    166: [
        reports(
            "t = now_mu()\nwith interleave:\n    with sequential:\n        self.report(0, now_mu() - t)\n        delay_mu(3)\n"
            "        self.report(1, now_mu() - t)\n    with sequential:\n        self.report(2, now_mu() - t)\n"
            "        delay_mu(2)\n        self.report(3, now_mu() - t)\n        delay_mu(2)\n        self.report(4, now_mu() - t)\n"
            "self.report(now_mu() - t)",
            *(0, 0, 2, 0, 3, 2, 1, 3, 4, 4, 4),
        )
    ],
    167: [refused("with interleave:\n    while self.n:\n        delay_mu(1)", "while statement cannot be", n=1)],
    168: [refused("with interleave, sequential:\n    pass", "error")],
    174: [refused("with 5:\n    pass", "cannot act as a context manager")],
    175: [
        reports(
            "for i in range(3):\n    try:\n        if i == 1:\n            return\n    finally:\n        self.report(i)",
            0,
            1,
        )
    ],
    171: [
        reports(
            "t = now_mu()\nwith interleave:\n    delay(1.7e-9)\n    delay_mu(1)\nself.report(now_mu() - t)", 2
        )._replace(differs="delay() rounds everywhere"),
        reports("t = now_mu()\ndelay(1.7e-9)\nself.report(now_mu() - t)", 2),
    ],
    172: [refused("x = now_mu()\nwith interleave:\n    delay_mu(x)", "an argument cannot be statically evaluated")],
    173: [refused("with interleave:\n    with parallel:\n        pass", "with statement cannot be interleaved")],
    176: [
        reports(
            "i = 0\nwhile i < 2:\n    i += 1\n    try:\n        continue\n    finally:\n        self.report(i)", 1, 2
        )
    ],
    177: [
        raises("x = bytearray([300, 2])\nself.report(x[0])", "ValueError", "byte must be in range(0, 256)")._replace(
            differs=PYTHON
        )
    ],
    179: [reports("len([] + [1])", 1)],
    180: [
        reports("a = [1, 2]\na[0] += 5\nself.report(a[0])", 6),
        reports("a = np.array([1])\na[0] += 5\nself.report(a[0])", 6),
    ],
    181: [reports("x = (1, [2, 3])\nx[1][0] = 9\nself.report(x[1][0])", 9)],
    184: [reports("self.l[1]", 1 << 40, l=[1, 1 << 40], differs="both elements are int64")],
    185: [reports("self.t[1]", 1 << 40, t=(1, 1 << 40), differs="each element as wide as it needs")],
    186: [reports("self.l[1] + 0.5", 2.5, l=[1.0, 2], differs=BEYOND)],
    187: [reports("x = int64(5)\ny = x << 33\nz = int32(y)\nself.report(y, z)", 5 << 33, 0, differs="y stays int64")],
    189: [reports("sys.maxsize, np.pi, Levels.HIGH", 2**63 - 1, 3.141592653589793, 7)],
    190: [reports("GLOBAL = 6\nself.report(GLOBAL)", 6), reports("GLOBAL", 5)],
    191: [refused("b = self.x\nc = [3]\nb = c", "does not outlive", x=[1])],
    192: [reports("def inner(x: TInt32) -> TFloat:\n    return x\nself.report(inner(self.n))", 1, n=1)],
}

ELSEWHERE: dict[int, str] = {
    75: "tests/language/test_facts_host.py::test_lists_are_shared_and_numbers_are_not",
    118: "tests/language/test_facts_host.py::test_defaults_and_keywords_are_passed",
    119: "tests/language/test_facts_host.py::test_calls_with_wrong_arguments_are_rejected",
    121: "tests/language/test_facts_host.py::test_python_int_as_annotation_is_rejected",
    122: "tests/language/test_facts_host.py::test_annotations_of_kernel_types_are_accepted",
    123: "tests/language/test_facts_host.py::test_recursive_functions_return_their_result",
    126: "tests/language/constructs/classes.py::describe",
    127: "tests/language/test_facts_host.py::test_user_function_named_delay_is_called",
    136: "tests/language/test_facts_host.py::test_rpc_without_annotation_returns_none",
    137: "tests/language/test_facts_host.py::test_rpc_result_of_other_type_is_rejected",
    138: "tests/language/test_facts_host.py::test_rpc_result_of_other_type_is_rejected",
    141: "tests/language/test_facts_host.py::test_keyword_arguments_of_rpc_reach_host",
    146: "tests/language/test_facts_host.py::test_precompiled_kernel_keeps_the_values_at_compilation",
    148: "tests/language/test_facts_host.py::test_host_only_function_is_rejected",
    155: "tests/language/test_facts_host.py::test_lists_of_objects_are_iterated",
    156: "tests/language/test_facts_host.py::test_object_passed_by_rpc_is_the_same",
    158: "tests/language/test_facts_host.py::test_named_tuple_is_indexed_as_tuple",
    134: "tests/language/test_facts_host.py::test_cached_values_are_returned_by_kernels",
    142: "tests/language/test_facts_host.py::test_print_of_a_kernel_runs_on_host",
    145: "tests/language/test_facts_host.py::test_changed_attributes_are_written_back",
    149: "tests/language/test_facts_host.py::test_user_exceptions_are_passed_on",
    64: "tests/language/test_facts_functions.py::test_break_outside_loop_is_rejected",
    110: "tests/language/test_facts_functions.py::test_new_objects_are_returned_by_functions",
    115: "tests/language/test_facts_functions.py::test_function_called_with_two_types_is_rejected",
    116: "tests/language/test_facts_functions.py::test_inherited_method_is_compiled_per_class",
    117: "tests/language/test_facts_functions.py::test_inherited_method_is_compiled_per_class",
    120: "tests/language/test_facts_functions.py::test_arguments_of_other_type_are_rejected",
    131: "tests/language/test_facts_functions.py::test_new_objects_are_returned_by_functions",
    133: "tests/language/test_facts_functions.py::test_argument_rebound_to_local_value_is_rejected",
    135: "tests/language/test_facts_functions.py::test_rpc_results_are_stored_in_attributes",
    139: "tests/language/test_facts_functions.py::test_asynchronous_rpc_returning_a_value_is_rejected",
    151: "tests/language/test_facts_functions.py::test_except_clause_catches_several_classes",
    157: "tests/language/test_facts_functions.py::test_closure_variables_are_available_in_kernels",
    182: "tests/language/test_facts_functions.py::test_with_statement_takes_several_managers",
    183: "tests/language/test_facts_functions.py::test_value_of_a_manager_is_bound",
    188: "tests/language/test_facts_functions.py::test_decorators_qualified_by_module_are_recognised",
    **dict.fromkeys((169, 170, 178), "tests/e2e/test_standalone.py::test_print_of_standalone_kernel_goes_to_log"),
}
