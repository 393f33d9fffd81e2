"""Random programs of nested `try`, `raise` and jumps, as text accepted by both Python and the
compiler.

A program consists of a few functions, each of which may call later ones. Its behaviour is observed
through the numbers passed to `mark`. Everything is derived from the seed.
"""

import random

CLASSES = ("ValueError", "IndexError", "Alpha", "Stop")
"""Few, so that clauses match often. `Exception` does not catch `Stop`."""

HEAD = """\
class Alpha(Exception):
    pass


class Stop(BaseException):
    pass


CLASSES = (ValueError, IndexError, Alpha, Stop)
"""

METHODS = """
    def __init__(self, core):
        self.core = core
        self.numbers = [1, 2, 3]
        self.trace = []

    @rpc(flags={"async"})
    def mark(self, number):
        self.trace.append(number)

    @rpc
    def refuse(self, number) -> TInt32:
        if number % 5 < 4:
            raise CLASSES[number % 5](f"from the host: {number}")
        return number
"""


class Writer:
    """Writes one program: `functions` functions `p<number>_<index>` of one argument."""

    def __init__(self, number, functions=3, budget=20):
        self.random = random.Random(number)
        self.number = number
        self.functions = functions
        self.budget = budget
        self.marks = 0
        self.names = 0

    def text(self):
        lines = self.driver()
        for index in range(self.functions):
            self.index, self.left = index, self.budget
            lines += ["", "    @kernel", f"    def p{self.number}_{index}(self, n) -> TInt32:"]
            lines += self.block(2, loops=0, caught=())
            if not self.closed(lines[-1]):
                lines.append("        return n")
        return "\n".join(lines) + "\n"

    def driver(self):
        """Return the entry: calls the first function for a few arguments and catches its
        exceptions, outside of a handler and within one; then calls it once more for the caller to
        catch.
        """
        first = f"self.p{self.number}_0"
        handlers = [
            f"            except {name}:\n                self.mark({-k})" for k, name in enumerate(CLASSES, 10)
        ]
        catching = [f"                self.mark({first}(n))", *handlers]
        return [
            "",
            "    @kernel",
            f"    def p{self.number}(self) -> TInt32:",
            "        for n in range(4):",
            "            try:",
            *catching,
            "            try:",
            '                raise Alpha("around")',
            "            except Alpha:",
            "                try:",
            *("    " + line.replace("\n", "\n    ") for line in catching),
            "                self.mark(-1)",
            f"        return {first}({self.random.randrange(4)})",
        ]

    @staticmethod
    def closed(line):
        return line.startswith("        ") and line[8:].split(" ")[0] in ("return", "raise")

    def mark(self):
        self.marks += 1
        return f"self.mark({self.marks})"

    def block(self, depth, loops, caught):
        """Return the lines of a block, indented by `depth`; `loops` enclosing loops in this
        function; `caught`: names of the exceptions whose handlers enclose it, innermost last."""
        lines, indent = [], "    " * depth
        for _ in range(self.random.randint(1, 3)):
            lines.append(indent + self.mark())
            if self.left <= 0:
                break
            self.left -= 1
            statement = self.random.choice(self.choices(depth, loops, caught))
            made = statement(depth, loops, caught)
            lines += made
            if made[-1].startswith(indent) and made[-1][len(indent) :].split(" ")[0] in (
                "raise",
                "return",
                "break",
                "continue",
            ):
                break
        return lines

    def choices(self, depth, loops, caught):
        result = [self.raising] * 2 + [self.when] * 2 + [self.failing] * 2 + [self.returning]
        if depth < 6:
            result += [self.trying] * 8 + [self.looping] * 2
        if loops:
            result += [self.leaving] * 2
        if caught:
            result += [self.raising_again] * 4 + [self.raising] * 2 + [self.trying] * 2
        if self.index + 1 < self.functions:
            result += [self.calling] * 3
        return result

    def raising(self, depth, loops, caught):
        name, number = self.random.choice(CLASSES), self.random.randrange(100)
        return self.perhaps(depth, loops, f'raise {name}("number {{0}}", {number})', 0.5 if caught else 0.2)

    def perhaps(self, depth, loops, statement, always=0.2):
        """Return the statement, mostly under a condition, so that later statements are reached too."""
        indent = "    " * depth
        if self.random.random() < always:
            return [indent + statement]
        variable = self.random.choice(["n"] + [f"i{k}" for k in range(loops)])
        modulus = self.random.randint(2, 4)
        condition = f"if {variable} % {modulus} == {self.random.randrange(modulus)}:"
        return [indent + condition, indent + "    " + statement, indent + self.mark()]

    def raising_again(self, depth, loops, caught):
        name = self.random.choice((caught[-1], caught[-1], self.random.choice(caught)))
        return self.perhaps(depth, loops, f"raise {name}" if name and self.random.random() < 0.5 else "raise")

    def returning(self, depth, loops, caught):
        return self.perhaps(depth, loops, f"return {self.random.randrange(100)}")

    def leaving(self, depth, loops, caught):
        return self.perhaps(depth, loops, self.random.choice(("break", "continue")))

    def when(self, depth, loops, caught):
        variable = self.random.choice(["n"] + [f"i{k}" for k in range(loops)])
        indent = "    " * depth
        lines = [indent + f"if {variable} % {self.random.randint(2, 3)} == {self.random.randint(0, 1)}:"]
        return lines + self.block(depth + 1, loops, caught) + [indent + self.mark()]

    def failing(self, depth, loops, caught):
        """Return a call that fails for some values: of the host, or by a check of the compiler."""
        variable = self.random.choice(["n"] + [f"i{k}" for k in range(loops)])
        number = self.random.randrange(4)
        text = self.random.choice(
            (
                f"self.refuse({variable} + {self.random.randrange(7)})",
                f"self.numbers[{variable} + {number}]",
            )
        )
        return ["    " * depth + f"self.mark({text})"]

    def calling(self, depth, loops, caught):
        callee = self.random.randrange(self.index + 1, self.functions)
        argument = self.random.choice([f"n + {self.random.randrange(3)}"] + [f"i{k}" for k in range(loops)])
        return ["    " * depth + f"self.mark(self.p{self.number}_{callee}({argument}))"]

    def looping(self, depth, loops, caught):
        indent = "    " * depth
        lines = [indent + f"for i{loops} in range({self.random.randint(1, 3)}):"]
        return lines + self.block(depth + 1, loops + 1, caught) + [indent + self.mark()]

    def trying(self, depth, loops, caught):
        indent = "    " * depth
        lines = [indent + "try:", *self.block(depth + 1, loops, caught)]
        clauses = self.random.sample(CLASSES, self.random.choice((0, 1, 1, 2, 2)))
        if self.random.random() < 0.3:
            clauses.append(self.random.choice(("Exception", "BaseException", "")))
        handlers = []
        for clause in clauses:
            name = ""
            if clause and self.random.random() < 0.5:
                self.names += 1
                name = f"e{self.names}"
            head = "except" + (f" {clause}" if clause else "") + (f" as {name}" if name else "")
            handlers += [f"{indent}{head}:", *self.block(depth + 1, loops, (*caught, name))]
        lines += handlers
        if handlers and self.random.random() < 0.3:
            lines += [indent + "else:", *self.block(depth + 1, loops, caught)]
        if not handlers or self.random.random() < 0.4:
            lines += [indent + "finally:", *self.block(depth + 1, loops, ())]
        return [*lines, indent + self.mark()]


def source(numbers, head):
    """Return the text of a module with a class `Programs` that has all programs; `head` defines the
    decorators."""
    return head + HEAD + "\n\nclass Programs:" + METHODS + "".join(Writer(number).text() for number in numbers)
