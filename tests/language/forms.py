"""Elements of random programs (`generator.py`) beyond numbers, lists and simple statements:
formatted text, tuples, functions as values, objects created in kernels, bytes, matrices, context
managers, and attributes of the host."""

HEAD = '''\
class Pair:
    """Kernels make objects of it."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    @portable
    def sum(self) -> TInt32:
        return self.x + self.y

    @portable
    def grow(self, by: TInt32) -> TInt32:
        self.x, self.y = self.y, self.x * by
        return self.x


class Guard:
    def __init__(self):
        self.entered = int32(0)

    @portable
    def __enter__(self):
        self.entered += int32(1)

    @portable
    def __exit__(self, kind, value, traceback):
        self.entered *= int32(3)


@portable
def double(x: TInt32) -> TInt32:
    return x + x


@portable
def invert(x: TInt32) -> TInt32:
    return ~x


@portable
def divide(x: TInt32) -> TInt32:
    return int32(1000) // x


'''

ATTRIBUTES = """\
        self.total = int32(0)
        self.wide = int64(0)
        self.real = float(0.0)
        self.slots = [int32(0), int32(1), int32(2), int32(3), int32(4)]
        self.grid = np.array([float(0.0), float(1.0), float(2.0)])
        self.guard = Guard()
"""

FUNCTIONS = ("double", "invert", "divide")
MATRICES = ("mi", "mw", "mf")
"""Matrices with two rows and three columns."""
ORDERS = ("==", "!=", "<", "<=", ">", ">=")


class Forms:
    """Further elements for a `Writer`."""

    # Statements

    def report(self, depth, _):
        return ["    " * depth + f"self.mark({self.number}, {self.text_of_values()})"]

    def text_of_values(self):
        pieces = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.choice("iiwwbsf")
            form = ""
            if self.random.random() < 0.2:
                form = self.random.choice({"f": [":.3f", ":12.2e"], "s": [":>6", "!r"]}.get(kind, ["!r", ":>12"]))
            pieces.append(self.random.choice(("", "µ", "{{", " ")) + "{" + self.shown(kind) + form + "}")
        return f"f'{''.join(pieces)}'"

    def shown(self, kind):
        """Returns a value for a formatted text; without quotes, as quotes of the same kind cannot be nested."""
        name = self.variable(kind)
        if name:
            return name
        return {"b": "True", "s": "self.texts[3]", "f": "float(0.25)"}.get(kind) or self.literal(kind)

    def within(self, depth, result):
        return ["    " * depth + "with self.guard:", *self.block(depth + 1, result)]

    def bind(self, depth, _):
        """Writes the definition of a variable with a tuple, a function, an object, bytes or a matrix."""
        indent = "    " * depth
        kind = self.random.choice(("t", "t", "F", "N", "U", "o", "o", "y", "y", *MATRICES))
        if kind == "U":
            return self.unused(indent)
        if kind == "N":
            value = self.expression("i", 1)
            self.scope[name := f"N{self.count_name()}"] = "F"
            return [f"{indent}def {name}(x):", f"{indent}    return x {self.random.choice('+-*^')} {value}"]
        value = self.value_of(kind)
        return [f"{indent}{self.fresh(kind)} = {value}"]

    def unused(self, indent):
        """Writes a nested function that nothing calls, which need not have types."""
        name, inner = (f"U{self.count_name()}" for _ in range(2))
        own = self.variable("iwfbs") or "self"
        bodies = [
            ["return x"],
            ["return x.missing(y)[0] + y"],
            [f"def {inner}(z):", "    return [z, x]", f"return {inner}(y)"],
            [f"{inner} = lambda z: z + x", f"return {inner}"],
            ["nowhere = x", "return nowhere(unknown_name)"],
            ["z = []", "for x in z:", "    z = y", "return z"],
            [f"if x:\n{indent}        return {own}", f"raise ValueError({name})"],
            [f"nonlocal {own}", f"{own} = x", "return self.unknown_attribute"],
        ]
        body = self.random.choice(bodies[: -1 if own == "self" or own in self.fixed else None])
        if self.random.random() < 0.2:
            return [f"{indent}{name} = lambda x, y=0: x.value(y) if x else y"]
        return [
            f"{indent}def {name}(x, y{self.random.choice(('', '=None', '=int32(1)'))}):",
            *(f"{indent}    {line}" for line in body),
        ]

    def count_name(self):
        self.names += 1
        return self.names + 9

    def value_of(self, kind):
        name = self.variable((kind,))
        match kind:
            case "t":
                return f"({self.expression('i', 2)}, {self.expression('f', 1)})"
            case "o":
                return f"Pair({self.expression('i', 2)}, {self.expression('i', 1)})"
            case "F":
                one, two = (self.random.choice([*FUNCTIONS, name or "double"]) for _ in range(2))
                chosen = f"({one} if {self.expression('b', 1)} else {two})"
                return self.random.choice([one, chosen, f"(lambda x: x + {self.expression('i', 1)})"])
            case "y":
                data = ", ".join(
                    str(self.random.choice((0, 1, 127, 128, 255))) for _ in range(self.random.randint(1, 4))
                )
                forms = [f"bytearray([{data}])", f"bytearray(bytes([{data}]))"]
                return self.random.choice(
                    forms + [f"bytearray({name}[::-1])", f"bytearray({name}[1:])"] if name else forms
                )
        return self.matrix(kind)

    def matrix(self, kind):
        name, elt = self.variable((kind,)), kind[1]
        if name and self.random.random() < 0.6:
            op, other = self.random.choice("+-*"), self.expression(elt, 1)
            forms = [
                f"({name} {op} {name})",
                f"({name} {op} {other})",
                f"(-{name})",
                f"np.where({name} {self.random.choice(ORDERS)} {other}, {name}, {self.expression(elt, 1)})",
                f"{name}.reshape((3, 2)).T.copy().reshape(2, 3)"
                if self.random.random() < 0.2
                else f"{name}[::-1, ::-1]",
                f"{name}[:, [0][0]:]",
            ]
            if elt != "f":
                forms.append(f"np.clip({name}, {self.literal(elt)}, {self.literal(elt)})")
            return f"({self.random.choice(forms[:5] + forms[6:])} + {self.literal(elt)})"
        rows = [", ".join(self.expression(elt, 1) for _ in range(3)) for _ in range(2)]
        return f"np.array([[{rows[0]}], [{rows[1]}]])"

    def alter(self, depth, _):
        """Writes a modification of a value bound by `bind`, or of a host object."""
        indent = "    " * depth
        name = self.variable(("o", "y", *MATRICES))
        if name is None or self.random.random() < 0.3:
            return [indent + self.stored_on_host()]
        kind = self.scope[name]
        if kind == "o":
            target = f"{name}.{self.random.choice('xy')} {self.random.choice(('', '+', '*', '^'))}="
            return [f"{indent}{target} {self.expression('i', 2)}"]
        if kind == "y":
            return [
                f"{indent}{name}[{self.place(name)}] = {self.expression('i', 1)} {self.random.choice(('& 255', ''))}"
            ]
        elt, op = kind[1], self.random.choice(("", "+", "-", "*"))
        row, column = self.random.choice(("0", "1", "-1")), self.random.choice(("0", "2", self.expression("i", 1)))
        forms = [
            f"{name}[{row}, {column}] {op}= {self.expression(elt, 1)}",
            f"{name}[{row}] {op}= {name}[{self.random.choice('01')}]",
            f"{name}[:, 1:] {op}= {name}[:, :-1]",
            f"{name}[:, 0] {op}= {name}[:, 2]",
            f"{name} {op or '-'}= {self.expression(elt, 1)}",
        ]
        return [indent + self.random.choice(forms)]

    def stored_on_host(self):
        op = self.random.choice(("", "+", "-", "*"))
        return self.random.choice(
            [
                f"self.total {op}= {self.expression('i', 2)}",
                f"self.wide {op}= {self.expression('w', 2)}",
                f"self.real {op}= {self.expression('f', 1)}",
                f"self.slots[{self.place('self.slots')}] {op}= {self.expression('i', 1)}",
                f"self.grid[{self.place('self.grid')}] {op}= {self.expression('f', 1)}",
            ]
        )

    def over(self, depth, result):
        """Writes a loop over a tuple, bytes, a matrix, a row or a sorted list."""
        kind = self.random.choice("iwf")
        rows = self.variable((f"m{kind}",))
        heads = [(f"({', '.join(self.expression(kind, 1) for _ in range(3))})", kind)]
        if rows:
            heads += [(f"list({rows}[{self.random.choice('01')}])", kind), (rows, f"a{kind}")]
        if name := self.variable((f"l{kind}",)):
            heads.append((f"sorted({name}{self.random.choice(('', ', reverse=True'))})", kind))
        if name := self.variable(("y",)):
            heads.append((f"list({name})", "i"))
        head, elt = self.random.choice(heads)
        return self.looped(depth, result, head, [elt])

    # Expressions

    def special(self, kind, depth):
        """Returns an expression of this kind based on a value bound by `bind`, or None."""
        names = {form: self.variable((form,)) for form in ("t", "F", "o", "y", f"m{kind}")}
        tuple_, function, object_, bytes_, matrix = names.values()
        forms = {"i": ["self.total", "self.guard.entered", "self.slots[2]"], "w": ["self.wide"], "f": ["self.real"]}
        forms = forms.get(kind, [])
        index = self.random.choice(("0", "-2")) if kind == "i" else self.random.choice(("1", "-1"))
        if kind in "if" and tuple_:
            forms += [f"{tuple_}[{index}]"] * 2
        if kind == "i":
            forms += [f"{function}({self.argument('i', min(depth, 1))})"] * 2 if function else []
            if object_:
                forms += [f"{object_}.x", f"{object_}.sum()", f"{object_}.grow({self.expression('i', 1)})"]
            forms += [f"int32({bytes_}[{self.place(bytes_)}])", f"int32(len({bytes_}))"] if bytes_ else []
            forms += [f"int32(len({self.text_of_values()}))"] if self.random.random() < 0.1 else []
        if matrix:
            word = {"i": "int32", "w": "int64", "f": "float"}[kind]
            which = self.random.choice(("max", "min"))
            forms += [f"{word}({matrix}[{self.random.choice('01')}, {self.place('self.grid')}])"]
            forms += [f"{word}(np.{which}({matrix}))"]
            forms += [] if kind == "f" else [f"{word}(np.sum({matrix}))", f"{word}(np.sum({matrix}, axis=0)[1])"]
        if kind == "b":
            name = self.variable("iwfbs")
            forms += (
                [f"isinstance({name}, {self.random.choice(('int', 'int32', 'int64', 'float', 'bool', 'str'))})"]
                if name
                else []
            )
            forms += (
                [f"({tuple_} {self.random.choice(('==', '!=', '<'))} ({self.expression('i', 1)}, float(1.0)))"]
                if tuple_
                else []
            )
            forms += [f"(({self.expression('i', 1)} & 255) in {bytes_})"] if bytes_ else []
            forms += [f"({self.expression('i', 1)} in ({self.literal('i')}, {self.literal('i')}))"]
            if matrix := self.variable(MATRICES):
                elt = self.expression(self.scope[matrix][1], 1)
                forms += [f"np.{self.random.choice(('any', 'all'))}({matrix} {self.random.choice(ORDERS)} {elt})"]
        return self.random.choice(forms) if forms else None
