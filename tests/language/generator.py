"""Random well-typed functions in the kernel language, as text that both Python and the compiler accept.

A program consists of a few functions, each of which may call those after it, and a caller that runs
the first for some arguments and passes its result, or the name of the raised exception, to `mark`.
Everything is derived from the seed. Integers have explicit widths wherever needed, so that the
meaning of the text does not depend on inference.
"""

import random

from . import everyday, forms

HEAD = """\
class Programs:
    def __init__(self, core):
        self.core = core
        self.marks = []
        self.ints = [INTS]
        self.wides = [WIDES]
        self.floats = [FLOATS]
        self.bools = [True, False]
        self.texts = ["", "a", "µs", "kernel", "日本"]
ATTRIBUTES
    @rpc(flags={"async"})
    def mark(self, *values):
        self.marks.append(values)
"""

INTS = [0, 1, -1, 2, -7, 31, 32, 33, 2**31 - 1, -(2**31), 1000, -65536, 12345678]
WIDES = [0, 1, -1, 3, -9, 63, 64, 65, 2**63 - 1, -(2**63), 2**40, -(2**33) - 5, 2**31]
FLOATS = [0.0, -0.0, 1.0, -2.5, 0.5, 3.75, 1e10, -1e-5, 1e300, 2.0**-40, 7.0]
TYPES = {"i": "TInt32", "w": "TInt64", "f": "TFloat", "b": "TBool", "s": "TStr"}
"""The scalar types: `i` and `w` are integers of 32 and 64 bits."""
SEQUENCES = ("li", "lw", "lf", "ai", "aw", "af")
"""Lists and arrays of scalars."""
ERRORS = ("ValueError", "IndexError", "ZeroDivisionError", "OverflowError", "RuntimeError")


class Writer(forms.Forms, everyday.Everyday):
    """Writes one program: `functions` functions `p<number>_<index>`, each of about `budget` statements."""

    def __init__(self, number, functions=2, budget=14):
        self.random = random.Random(number)
        self.number = number
        self.budget = budget
        pick = self.random
        self.signatures = [
            ([pick.choice("iwfbs") for _ in range(pick.randint(1, 4))], pick.choice("iiwwffb"))
            for _ in range(functions)
        ]

    def text(self):
        lines = self.caller()
        for index, (params, result) in enumerate(self.signatures):
            self.index, self.left, self.names, self.loops = index, self.budget, 0, 0
            self.scope = {f"{kind}{place}": kind for place, kind in enumerate(params)}
            self.fixed = set()
            annotated = ", ".join(f"{name}: {TYPES[kind]}" for name, kind in self.scope.items())
            lines += ["", "    @kernel", f"    def p{self.number}_{index}(self, {annotated}) -> {TYPES[result]}:"]
            lines += self.block(2, result)
            lines.append(f"        return {self.expression(result)}")
        return "\n".join(lines) + "\n"

    def caller(self):
        params, _ = self.signatures[0]
        source = {"i": "ints", "w": "wides", "f": "floats", "b": "bools", "s": "texts"}
        count = {"i": len(INTS), "w": len(WIDES), "f": len(FLOATS), "b": 2, "s": 5}
        lines = ["", "    @kernel", f"    def p{self.number}(self):"]
        for _ in range(3):
            places = [f"self.{source[kind]}[{self.random.randrange(count[kind])}]" for kind in params]
            call = f"self.p{self.number}_0({', '.join(places)})"
            lines += ["        try:", f"            self.mark({self.number}, {call})"]
            for name in ERRORS:
                lines += [f"        except {name}:", f'            self.mark({self.number}, "{name}")']
        return lines

    # Statements

    def block(self, depth, result):
        """Returns a block at indentation `depth`, in a function returning `result`. Its names are local."""
        before = dict(self.scope)
        lines = []
        for _ in range(self.random.randint(1, 4)):
            if self.left <= 0:
                break
            self.left -= 1
            choices = [self.define] * 4 + [self.change] * 4 + [self.store] * 3 + [self.unpack]
            choices += [self.bind] * 3 + [self.alter] * 3 + [self.report, self.divided, self.explained]
            if depth < 5:
                choices += [self.when] * 2 + [self.count, self.repeat, self.each, self.attempt, self.over, self.within]
                choices += [self.named, self.spelt]
            if self.loops:
                choices += [self.leave]
            choices += [self.fail, self.early]
            lines += self.random.choice(choices)(depth, result)
        self.scope = before
        return lines or ["    " * depth + "pass"]

    def define(self, depth, _):
        kind = self.random.choice((*"iiwwffbs", *SEQUENCES))
        value = self.expression(kind)
        return ["    " * depth + f"{self.fresh(kind)} = {value}"]

    def fresh(self, kind):
        self.names += 1
        name = f"{kind}{self.names + 9}"
        self.scope[name] = kind
        return name

    def variable(self, kinds, assigned=False):
        found = [name for name, kind in self.scope.items() if kind in kinds and not (assigned and name in self.fixed)]
        return self.random.choice(found) if found else None

    def change(self, depth, _):
        name = self.variable("iwfb", assigned=True)
        if name is None:
            return self.define(depth, _)
        kind = self.scope[name]
        ops = {"i": "+ - * // % & | ^ << >>", "w": "+ - * // % & | ^ << >>", "f": "+ - * / // %", "b": "& | ^"}[kind]
        op = self.random.choice(ops.split())
        operand = self.shift(kind) if op in ("<<", ">>") else self.expression(kind, 1)
        if self.random.random() < 0.3:
            return ["    " * depth + f"{name} = {self.expression(kind)}"]
        return ["    " * depth + f"{name} {op}= {operand}"]

    def store(self, depth, _):
        name = self.variable(SEQUENCES)
        if name is None:
            return self.define(depth, _)
        kind, elt = self.scope[name][0], self.scope[name][1]
        indent = "    " * depth
        choice = self.random.random()
        if kind == "a" and choice < 0.3:
            op = self.random.choice("+-*")
            a, b = self.random.choice([("[1:]", "[:-1]"), ("[:-1]", "[1:]"), ("", "")])
            return [f"{indent}{name}{a} {op}= {name}{b}" if a else f"{indent}{name} {op}= {self.expression(elt, 1)}"]
        if choice < 0.5:
            a, b = self.random.choice([("1:", ":-1"), (":-1", "1:"), (":", "::-1" if kind == "l" else ":")])
            return [f"{indent}{name}[{a}] = {name}[{b}]"]
        op = self.random.choice(["", "", "+", "-", "*"])
        return [f"{indent}{name}[{self.place(name)}] {op}= {self.expression(elt, 2)}"]

    def place(self, name):
        """Returns an index into a sequence, mostly within its bounds."""
        if self.random.random() < 0.1:
            return self.expression("i", 1)
        return f"({self.expression('i', 1)}) % len({name})" if self.random.random() < 0.6 else self.random.choice("01")

    def unpack(self, depth, _):
        kinds = [self.random.choice("iwfb") for _ in range(self.random.randint(2, 3))]
        values = ", ".join(self.expression(kind, 2) for kind in kinds)
        names = ", ".join(self.fresh(kind) for kind in kinds)
        return ["    " * depth + f"{names} = {values}"]

    def when(self, depth, result):
        indent = "    " * depth
        lines = [f"{indent}if {self.expression('b')}:", *self.block(depth + 1, result)]
        if self.random.random() < 0.4:
            lines += [f"{indent}elif {self.tested(1)}:", *self.block(depth + 1, result)]
        if self.random.random() < 0.5:
            lines += [f"{indent}else:", *self.block(depth + 1, result)]
        return lines

    def looped(self, depth, result, head, kinds):
        """Returns a loop over `head` with one variable for each kind in `kinds`."""
        indent, before = "    " * depth, dict(self.scope)
        names = [self.fresh(kind) for kind in kinds]
        self.loops += 1
        lines = [f"{indent}for {', '.join(names)} in {head}:", *self.block(depth + 1, result)]
        self.loops -= 1
        self.scope = before
        if self.random.random() < 0.2:
            lines += [f"{indent}else:", *self.block(depth + 1, result)]
        return lines

    def count(self, depth, result):
        kind = self.random.choice("iw")
        return self.looped(depth, result, self.range(kind), [kind])

    def range(self, kind):
        word = {"i": "int32", "w": "int64"}[kind]
        top = {"i": 2**31 - 1, "w": 2**63 - 1}[kind]
        bounds = self.random.choice(
            [
                (self.random.randint(0, 5),),
                (self.random.randint(-3, 3), self.random.randint(-3, 6)),
                (self.random.randint(-9, 9), self.random.randint(-9, 9), self.random.choice([-3, -2, -1, 1, 2, 5])),
                (top - self.random.randint(1, 9), top, self.random.randint(1, 7)),
                (self.random.randint(0, 9) - top, -top, -self.random.randint(1, 7)),
                (-top, top, top // self.random.randint(1, 3)),
            ]
        )
        return f"range({', '.join(f'{word}({bound})' for bound in bounds)})"

    def each(self, depth, result):
        name = self.variable(SEQUENCES)
        if name is None:
            return self.count(depth, result)
        head = f"list({name})" if self.scope[name][0] == "a" else name
        elt, other = self.scope[name][1], self.variable(SEQUENCES)
        match self.random.randrange(6):
            case 0:
                start = self.random.choice(("", ", int32(3)"))
                return self.looped(depth, result, f"enumerate({name}{start})", ["i", elt])
            case 1:
                kind = self.random.choice("iw")
                kinds = [elt, self.scope[other][1], kind]
                return self.looped(depth, result, f"zip({name}, {other}, {self.range(kind)})", kinds)
            case 2:
                return self.looped(depth, result, f"reversed({name})", [elt])
        return self.looped(depth, result, head, [elt])

    def repeat(self, depth, result):
        indent, before = "    " * depth, dict(self.scope)
        name = self.fresh("i")
        self.fixed.add(name)
        self.loops += 1
        lines = [f"{indent}{name} = int32({self.random.randint(0, 5)})", f"{indent}while {name} > 0:"]
        lines += [f"{indent}    {name} -= int32(1)", *self.block(depth + 1, result)]
        self.loops -= 1
        self.scope = before
        return lines

    def attempt(self, depth, result):
        indent = "    " * depth
        lines = [f"{indent}try:", *self.block(depth + 1, result)]
        classes = list(self.random.sample(ERRORS[:4], self.random.randint(1, 2)))
        if self.random.random() < 0.3:
            classes = [f"({', '.join(classes)}, RuntimeError)"]
        for name in classes + self.random.choice(([], [], ["Exception"], [""])):
            lines += [f"{indent}except {name}:".replace(" :", ":"), *self.block(depth + 1, result)]
            if self.random.random() < 0.2:
                lines += [f"{indent}    if {self.expression('b', 1)}:", f"{indent}        raise"]
        if self.random.random() < 0.2:
            lines += [f"{indent}else:", *self.block(depth + 1, result)]
        if self.random.random() < 0.4:
            lines += [f"{indent}finally:", *self.block(depth + 1, result)]
        return lines

    def leave(self, depth, _):
        indent = "    " * depth
        return [f"{indent}if {self.expression('b', 1)}:", f"{indent}    {self.random.choice(('break', 'continue'))}"]

    def fail(self, depth, _):
        indent = "    " * depth
        return [f"{indent}if {self.expression('b', 1)}:", f"{indent}    raise {self.random.choice(ERRORS)}"]

    def early(self, depth, result):
        indent = "    " * depth
        return [f"{indent}if {self.expression('b', 1)}:", f"{indent}    return {self.expression(result, 1)}"]

    # Expressions

    def expression(self, kind, depth=3):
        if kind in SEQUENCES:
            return self.sequence(kind, depth)
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf(kind)
        forms = {"i": self.integer, "w": self.integer, "f": self.floating, "b": self.boolean, "s": self.string}
        forms = [forms[kind]] * 5 + [self.chosen, self.called, self.element, self.special, self.everyday]
        made = self.random.choice(forms)(kind, depth - 1)
        return made or self.leaf(kind)

    def leaf(self, kind):
        name = self.variable(kind)
        if name and self.random.random() < 0.75:
            return name
        return self.literal(kind)

    def literal(self, kind):
        pick = self.random
        small = pick.random() < 0.7
        match kind:
            case "i":
                return f"int32({pick.randint(-9, 40) if small else pick.choice(INTS)})"
            case "w":
                return f"int64({pick.randint(-9, 70) if small else pick.choice(WIDES)})"
            case "f":
                return f"float({pick.choice(FLOATS)})"
            case "b":
                return pick.choice(("True", "False"))
        return pick.choice(('""', '"a"', '"µ"', '"text"', '"日本"'))

    def shift(self, kind):
        if self.random.random() < 0.7:
            return f"{'int32' if kind == 'i' else 'int64'}({self.random.randint(0, 70)})"
        return self.expression(kind, 1)

    def integer(self, kind, depth):
        word = "int32" if kind == "i" else "int64"

        def sub(k=kind):
            return self.expression(k, depth)

        form = self.random.randrange(15)
        if form < 5:
            # An int32 combined with an int64 is widened.
            left, right = (kind, self.random.choice("iw") if kind == "w" else "i")
            op = self.random.choice("+ - * & | ^ // %".split())
            if self.random.random() < 0.15:
                return f"({sub()} {op} {self.random.randint(1, 99)})"
            sides = [left, right] if self.random.random() < 0.5 else [right, left]
            return f"({sub(sides[0])} {op} {sub(sides[1])})"
        match form:
            case 5 | 6:
                return f"({sub()} {self.random.choice(('<<', '>>'))} {self.shift(kind)})"
            case 7:
                return f"({self.random.choice('-~+')}{sub()})"
            case 8:
                return f"{word}({sub(self.random.choice('iwfb'))})"
            case 9:
                return f"{word}({self.random.choice(('round', 'round', 'int'))}({sub('f')}))"
            case 10:
                return f"{self.random.choice(('min', 'max'))}({sub()}, {sub()})"
            case 11:
                return f"abs({sub()})"
            case 12:
                return f"({sub()} + {sub('b')})" if self.random.random() < 0.5 else self.length(word)
            case 13:
                return f"{word}({self.total(kind)})"
        return f"({sub()} ** {word}({self.random.randint(-1, 40)}))"

    def total(self, kind):
        """Returns the sum of a sequence, or of an expression for each element."""
        name = self.variable((f"l{kind}", f"a{kind}"))
        if name is None or self.random.random() < 0.2:
            return f"sum({self.comprehended(kind)} for x in {self.range('i')})" if kind == "i" else "1"
        if self.random.random() < 0.5:
            return f"sum({name})"
        other = self.variable(SEQUENCES)
        return f"sum(({self.comprehended(kind)} for x, y in zip({name}, {other}) if y > 1), {self.literal(kind)})"

    def length(self, word):
        name = self.variable((*SEQUENCES, "s"))
        text = f"len({name})" if name else f"len({self.range('i')})" if word == "int32" else "1"
        return f"{word}({text})" if "2147" not in text else f"{word}(3)"

    def floating(self, _, depth):

        def sub(k="f"):
            return self.expression(k, depth)

        form = self.random.randrange(10)
        if form < 4:
            other = self.random.choice("ffiwb")
            sides = [sub(), sub(other)]
            self.random.shuffle(sides)
            return f"({sides[0]} {self.random.choice('+ - * / // %'.split())} {sides[1]})"
        match form:
            case 4:
                return f"(-{sub()})"
            case 5:
                return f"float({sub(self.random.choice('iwfb'))})"
            case 6:
                return f"({sub(self.random.choice('iw'))} / {sub('i')})"
            case 7:
                return f"np.{self.random.choice(('sqrt', 'floor', 'ceil', 'trunc', 'rint', 'fabs'))}({sub()})"
        if form == 8:
            return f"float({self.total('f')})"
        if self.random.random() < 0.3:
            return f"abs({sub()})"
        return f"{self.random.choice(('min', 'max'))}({sub()}, {sub()})"

    def boolean(self, _, depth):

        def sub(k):
            return self.expression(k, depth)

        order = self.random.choice(("==", "!=", "<", "<=", ">", ">="))
        match self.random.randrange(10):
            case 9:
                name, which = self.variable(SEQUENCES), self.random.choice(("any", "all"))
                if name is None or self.random.random() < 0.3:
                    return f"{which}([{sub('b')}, {sub('b')}])"
                return f"{which}(x {order} {sub(self.scope[name][1])} for x in {name})"
            case 0 | 1 | 2:
                return f"({sub(self.random.choice('iwf'))} {order} {sub(self.random.choice('iwfb'))})"
            case 3:
                return f"(not {self.tested(depth)})"
            case 4:
                return f"({sub('b')} {self.random.choice(('and', 'or'))} {sub('b')})"
            case 5:
                return f"({sub('b')} {self.random.choice('&|^')} {sub('b')})"
            case 6:
                return f"({sub('s')} {order} {sub('s')})"
            case 7:
                name = self.variable(("li", "lw", "lf"))
                if name:
                    return f"({sub(self.scope[name][1])} in {name})"
                return f"({sub('i')} in {self.range('i')})"
        kind = self.random.choice("iwf")
        return f"({sub(kind)} {order} {sub(kind)} {self.random.choice(('<', '<='))} {sub(kind)})"

    def string(self, _, depth):
        if self.random.random() < 0.3:
            bounds = [self.random.choice(["", self.random.randint(-3, 4)]) for _ in range(2)]
            step = self.random.choice(["", "", ":-1", ":2"])
            return f"{self.leaf('s')}[{bounds[0]}:{bounds[1]}{step}]"
        if self.random.random() < 0.2:
            return f"({self.leaf('s')} + {self.leaf('s')})"
        return f"str({self.leaf(self.random.choice('iwb'))})" if self.random.random() < 0.2 else self.literal("s")

    def chosen(self, kind, depth):
        if kind == "s":
            return None
        parts = self.expression(kind, depth), self.expression("b", depth), self.expression(kind, depth)
        return "({} if {} else {})".format(*parts)

    def called(self, kind, depth):
        callees = [k for k in range(self.index + 1, len(self.signatures)) if self.signatures[k][1] == kind]
        if not callees or self.loops > 1:
            return None
        callee = self.random.choice(callees)
        args = ", ".join(self.argument(param, min(depth, 1)) for param in self.signatures[callee][0])
        return f"self.p{self.number}_{callee}({args})"

    def argument(self, kind, depth):
        """Returns a value for a parameter; an integer may be given as a bool."""
        return self.expression("b" if kind in "iw" and self.random.random() < 0.15 else kind, depth)

    def tested(self, depth):
        """Returns a value of any type that has a truth value."""
        name = self.variable(("li", "lw", "lf", "t", "y", "s"))
        if name and self.random.random() < 0.3:
            return self.random.choice((name, f"{name}[2:]")) if self.scope[name] != "t" else name
        if self.random.random() < 0.15:
            return self.random.choice(("()", "(0,)", "[int32(0)][1:]", "range(int32(2), int32(1))", self.range("w")))
        return self.expression(self.random.choice("iwfbs"), depth)

    def element(self, kind, _):
        name = self.variable((f"l{kind}", f"a{kind}"))
        if name is None:
            return None
        word = {"i": "int32", "w": "int64", "f": "float"}[kind]
        return f"{word}({name}[{self.place(name)}])"

    def sequence(self, kind, depth):
        own, elt = kind
        name = self.variable((kind,))
        values = f"[{', '.join(self.expression(elt, min(depth, 1)) for _ in range(self.random.randint(3, 4)))}]"
        if own == "a":
            rows = self.variable((f"m{elt}",))
            if rows and self.random.random() < 0.3:
                return f"{rows}[{self.random.choice(('0', '-1', ':, 1', '1, :', '1, ::-1', '0, 1:'))}]"
            if name and self.random.random() < 0.5:
                op = self.random.choice("+-*")
                other = self.expression(elt, 1)
                order, third = self.random.choice(forms.ORDERS), self.expression(elt, 1)
                made = [f"({name} {op} {name})", f"({name} {op} {other})", f"(-{name})", f"{name}[1:]"]
                return self.random.choice([*made, f"np.where({name} {order} {other}, {name}, {third})"])
            return f"np.array({values})"
        if name and self.random.random() < 0.5:
            return self.random.choice(
                [
                    f"({name} + {name})[:7]",
                    f"({name} * 2)[::-2]",
                    f"[{self.comprehended(elt)} for x in {name}]",
                    f"{name}[{self.random.randint(-3, 2)}:]",
                    f"list({name})",
                    f"sorted({name})",
                    f"sorted({name}, key={self.random.choice(('abs', 'bool', f'lambda x: {self.comprehended(elt)}'))})",
                    f"sorted({name}, key=lambda x: {self.comprehended(elt)}, reverse=True)",
                    self.filtered(elt, name),
                    self.filtered(elt, name),
                ]
            )
        return values

    def comprehended(self, elt):
        return self.random.choice(["(x + x)", "(-x)", "(x * x)", "x", self.expression(elt, 1)])


def source(texts, head):
    """Returns a module with a class `Programs` containing programs; `head` defines decorators and names."""
    ints = ", ".join(f"int32({value})" for value in INTS)
    wides = ", ".join(f"int64({value})" for value in WIDES)
    floats = ", ".join(f"float({value})" for value in FLOATS)
    body = HEAD.replace("INTS", ints).replace("WIDES", wides).replace("FLOATS", floats)
    attributes = forms.ATTRIBUTES + everyday.ATTRIBUTES
    return head + everyday.HEAD + forms.HEAD + body.replace("ATTRIBUTES\n", attributes) + "".join(texts)
