"""Values of the host and operations on them."""

PROGRAMS = {
    "type of the host that kernels do not have": "return self.complex",
    "array of no numbers": """
        class Exp(Host):
            a = np.array(5)

            @kernel
            def run(self):
                x = self.a
    """,
    "unsigned number": """
        class Exp(Host):
            a = np.uint64(2**64 - 1)

            @kernel
            def run(self):
                x = self.a
    """,
    "array beyond the memory": """
        class Exp(Host):
            a = np.broadcast_to(1.0, (1 << 20, 1 << 20))

            @kernel
            def run(self):
                x = self.a[0, 0]
    """,
    "text that cannot be sent": r"""
        class Exp(Host):
            a = '\ud800'

            @kernel
            def run(self):
                x = self.a
    """,
    "list of different types": """
        class Exp(Host):
            a = [1, 'a']

            @kernel
            def run(self):
                x = self.a
    """,
    "list of numbers that do not fit": """
        class Exp(Host):
            a = [1, 2**40]

            @kernel
            def run(self):
                self.take(self.a)

            @kernel
            def take(self, x: TList(TInt32)):
                pass
    """,
    "tuple index that is computed": """
        i = self.number
        return self.pair[i]
    """,
    "tuple index out of range": "return self.pair[2]",
    "tuple that is too long": "x = (" + "1, " * 1025 + ")",
    "index of an object": "return self.other[0]",
    "index that is no integer": "return self.list['a']",
    "slice that is no integer": "return self.list['a':]",
    "slice of a number": "return self.number[1:]",
    "is of different types": "return self.number is self.name",
    "in a number": "return 1 in self.number",
    "unpacked into other numbers": "a, b = 1, 2, 3",
    "unpacked list": "a, b = self.list",
    "list of names for a tuple": "[a, b] = self.pair",
    "assigned to a call": "len(self.list)[0] = 1",
    "kept text": "self.name = self.name + 'x'",
    "returned function": "return lambda: 1",
    "element of a tuple assigned": "self.pair[0] = 5",
    "element of text assigned": "self.name[0:1] = 'a'",
    "constant attribute assigned": "self.fixed = 5",
    "attribute of a function assigned": "remote.x = 5",
    "attribute of a number": "return self.number.real",
    "other type for an element": """
        values = [1, 2]
        values[0] = 'a'
    """,
    "other type for an element of the host": "self.list[0] = 'a'",
    "other type for one of several": """
        a = 'x'
        a, b = 1, 2
    """,
    "other type in a built-in function": "return max(1, 'a')",
    "text several times": "return self.name * 2",
    "number and text": "return self.number + 'a'",
}
