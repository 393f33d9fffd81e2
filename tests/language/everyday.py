"""Elements of random programs (`generator.py`) that everyday Python has: assignments within expressions, comprehensions
with conditions and several loops, texts as sequences, members of enumerations, fields of named tuples, arguments by
name only, `divmod`, `pow`, and `min` and `max` with a default."""

HEAD = """\
from enum import IntEnum
from typing import NamedTuple


class Level(IntEnum):
    LOW = 2
    HIGH = -70000


class Spot(NamedTuple):
    x: int
    y: float


@portable
def apart(x: TInt32, *, by: TInt32 = int32(3), plus: TInt32) -> TInt32:
    return x * by - plus


"""

ATTRIBUTES = """\
        self.level = Level.HIGH
        self.spot = Spot(int32(5), float(0.75))
"""

ORDERS = ("==", "!=", "<", "<=", ">", ">=")


class Everyday:
    """Further elements for a `Writer`."""

    # Statements

    def named(self, depth, result):
        """Writes a statement that assigns within its expressions."""
        indent, kind = "    " * depth, self.random.choice("iwf")
        value, other = self.expression(kind, 1), self.expression(kind, 1)
        first = self.fresh(kind)
        if self.random.random() < 0.4:
            name = self.fresh(kind)
            return [
                f"{indent}{name} = ({first} := {value}) {self.random.choice('+-*')} ({first} if {other} else {first})"
            ]
        order, word = self.random.choice(ORDERS), self.random.choice(("and", "or"))
        flag, rest = self.expression("b", 1), dict(self.scope)
        second = self.fresh("b")
        lines = [f"{indent}if ({first} := {value}) {order} {other} {word} ({second} := {flag}):"]
        if word == "or":
            self.scope.pop(second)
        lines += self.block(depth + 1, result)
        self.scope = rest
        if self.random.random() < 0.5:
            lines += [f"{indent}else:"]
            self.scope = rest | ({second: "b"} if word == "or" else {})
            lines += self.block(depth + 1, result)
        self.scope = rest
        return lines

    def divided(self, depth, _):
        kind = self.random.choice("iw")
        values = f"{self.expression(kind, 1)}, {self.expression(kind, 1)}"
        return ["    " * depth + f"{self.fresh(kind)}, {self.fresh(kind)} = divmod({values})"]

    def spelt(self, depth, result):
        """Writes a loop over the characters of a text."""
        text = self.variable("s") or "self.texts[4]"
        head, kinds = self.random.choice(
            ((text, ["s"]), (f"reversed({text})", ["s"]), (f"enumerate({text})", ["i", "s"]))
        )
        return self.looped(depth, result, head, kinds)

    def explained(self, depth, _):
        indent = "    " * depth
        message = self.random.choice((self.text_of_values(), '"{} of {b}".format(1, b=2)', self.leaf("s")))
        return [f"{indent}if {self.expression('b', 1)}:", f"{indent}    raise ValueError({message})"]

    # Expressions

    def everyday(self, kind, depth):
        """Returns an expression of a kind, or None."""
        if kind == "s":
            text = self.variable("s") or "self.texts[4]"
            return self.random.choice((f"{text}[{self.place(text)}]", f"{text}[-1]"))
        if kind == "b":
            text = self.random.choice((self.leaf("s"), "'textual µ日'"))
            member = f"({self.expression('i', 1)} {self.random.choice(ORDERS)} self.level)"
            within = f"({self.leaf('s')} {self.random.choice(('in', 'not in'))} {text})"
            return self.random.choice((within, within, member, f"any(c == 'a' for c in {text})"))
        word = {"i": "int32", "w": "int64", "f": "float"}[kind]
        forms = {
            "i": [
                f"int32(Level.{self.random.choice(('LOW', 'HIGH'))})",
                f"(self.level + {self.expression('i', depth)})",
                "self.spot.x",
                f"apart({self.argument('i', 1)}, plus={self.expression('i', 1)})",
                f"apart({self.expression('i', 1)}, by={self.argument('i', 1)}, plus=int32(1))",
                f"int32(sum(1 for c in {self.leaf('s')} if c != 'a'))",
            ],
            "w": [f"({self.expression('w', depth)} // self.level)"],
            "f": ["self.spot.y", f"(self.spot.y * {self.expression('f', depth)})"],
        }[kind]
        if kind != "f":
            forms.append(f"pow({self.expression(kind, depth)}, {word}({self.random.randint(-1, 9)}))")
            forms.append(
                f"divmod({self.expression(kind, depth)}, {self.expression(kind, 1)})[{self.random.choice('01')}]"
            )
        if name := self.variable((f"l{kind}",)):
            which, order = self.random.choice(("min", "max")), self.random.choice(ORDERS)
            elements = f"(x for x in {name} if x {order} {self.expression(kind, 1)})"
            forms.append(f"{which}({elements}, default={self.expression(kind, 1)})")
        return self.random.choice(forms)

    def filtered(self, elt, name):
        """Returns a list made of that of this name, with conditions or several loops."""
        order, other = self.random.choice(ORDERS), self.variable((f"l{elt}",))
        test = f"x {order} {self.expression(elt, 1)}"
        element = self.comprehended(elt)
        return self.random.choice(
            (
                f"[{element} for x in {name} if {test}]",
                f"[{element} for x in {name} if {test} if {self.expression('b', 1)}]",
                f"[x + y for x in {name}[:3] for y in {other}[:3]]",
                f"[y for x in {name}[:4] if {test} for y in [x, {element}] if y != x]",
                f"[x for x in {name} for _ in range(int32(9))][:20]",
            )
        )
