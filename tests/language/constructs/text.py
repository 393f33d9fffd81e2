"""Formatted strings."""

import numpy as np

from kairos.language import TStr, kernel, portable, rpc

from .marks import Marks


class ValuesThatTheKernelWrites(Marks):
    def build(self):
        self.ints = [0, 7, -1, 10, -10, 2147483647, -2147483648, 1000000]
        self.wides = [np.int64(2**63 - 1), np.int64(-(2**63)), np.int64(-(2**40)), np.int64(99)]
        self.name = "µs {x}"
        self.none = None

    @kernel
    def run(self):
        for n in self.ints:
            self.mark(f"{n}", str(n), f"<{n}|{-n if n > -5 else 0}>")
        for w in self.wides:
            self.mark(f"w = {w}!", str(w))
        self.mark(f"{True} {1 > 2} {self.none}", str(True), str(None), str())  # noqa: UP018
        self.mark(f"{self.name}", str(self.name), f"{self.name!s}", f"{{{self.name}}}", f"ab{1}{{c}}", "no value")
        self.mark(f"{'a' + 'b'}{'' if self.ints[0] == 1 else 'c'}", len(f"{self.ints[5]}"), f"{1}{2}"[1:] + "x")


class ValuesThatTheHostWrites(Marks):
    def build(self):
        self.floats = [0.1, 1e22, -0.0, 1e-7, 123456.789, 2.0]
        self.array = np.array([[1, 2], [3, 4]])

    @kernel
    def run(self):
        for x in self.floats:
            self.mark(f"{x}", str(x), f"{x:.3f} {x:10.2e}|{x:<12g}|")
        n, width, text = 42, 8, "abc"
        self.mark(
            f"{n:08b} {n:#x} {n:>{width}} {n:+,d} {-n:>{width}.{3}f}",
            f"{n!r} {text!r:>10} {text:*^9}",
            f"{n=} {n + 1 = }",
        )
        self.mark(f"{[(1, 2.0)]!r} {[1, 2]} {(1, 'a', True)} {[0.5]} {range(3)}", str([1.5]), str((1, 2)))
        self.mark(f"{self.array}", f"{{}} {n} {{{text}}} {1.5}", f"{True:d} {None!s:>6}")


class InFunctionsAndLoops(Marks):
    @portable
    def label(self, name, n):
        self.said(f"{name}{n}")
        return len(f"{n}")

    @rpc
    def said(self, text) -> TStr:
        self.trace.append(text)
        return text

    @kernel
    def run(self):
        text = ""
        for i in range(4):
            text += f"{i}," if i % 2 == 1 else f"({i / 2:.2f})"
        self.mark(text, text == "(0.00)1,(1.00)3,", f"{text}" == text)
        self.mark(self.label("a", 12), self.label("b", -3))


class EvaluatedInOrder(Marks):
    @kernel
    def seen(self, n):
        self.mark(n)
        return n

    @kernel
    def run(self):
        self.mark(f"{self.seen(1)} {self.seen(2):>{self.seen(3)}} {self.seen(4)}", f"{self.seen(5)}{self.seen(6)}")


class TextForTheHost(Marks):
    @rpc
    def log(self, level, text):
        self.trace.append((level, text))

    @kernel
    def run(self):
        self.log(f"l{1}", f"{1.5:.1f} and {2}")
        self.log("plain", f"{3}")
        self.mark(f"{2.25}", 7, f"{[1]}{8}")


class TextForAnAsynchronousCall(Marks):
    """The text is formatted by the call that receives it: the kernel does not wait."""

    @rpc(flags={"async"})
    def log(self, before, text, after, end="."):
        self.trace.append((int(before), text, after, end))

    @kernel
    def run(self):
        for i in range(3):
            self.log(i, f"{i / 4:.3f}", str(1.5 * i))
            self.log(i, f"{i}", f"{i:03d}", end="!")


class ErrorsOfFormats(Marks):
    EXPECTED = [("ValueError", "Unknown format code 'd' for object of type 'float'")]

    @kernel
    def run(self):
        x = 1.5
        self.mark(f"{x:d}")
