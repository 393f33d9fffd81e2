"""The call from the host."""

PROGRAMS = {
    "not a function": """
        class Exp(Host):
            run = 5
    """,
    "not a kernel": """
        class Exp(Host):
            def run(self):
                pass
    """,
    "a subkernel": """
        class Exp(Host):
            @subkernel(destination=1)
            def run(self):
                pass
    """,
    "too many arguments": """
        class Exp(Host):
            @kernel
            def run(self):
                pass

        ARGUMENTS = [1]
    """,
    "argument by name only": """
        class Exp(Host):
            @kernel
            def run(self, *, x):
                pass

        ARGUMENTS = [1]
    """,
    "argument missing": """
        class Exp(Host):
            @kernel
            def run(self, x):
                pass
    """,
    "unknown argument": """
        class Exp(Host):
            @kernel
            def run(self):
                pass

        KEYWORDS = {'x': 1}
    """,
    "argument of another type": """
        class Exp(Host):
            @kernel
            def run(self, x: TInt32):
                pass

        ARGUMENTS = [1.5]
    """,
    "argument that does not fit": """
        class Exp(Host):
            @kernel
            def run(self, x: TInt32):
                pass

        ARGUMENTS = [2**40]
    """,
    "argument that no kernel can have": """
        class Exp(Host):
            @kernel
            def run(self, x):
                pass

        ARGUMENTS = [2**70]
    """,
    "argument that raises": """
        class Raises:
            def __getattr__(self, name):
                raise ValueError('of the user')


        class Exp(Host):
            @kernel
            def run(self, x):
                pass

        ARGUMENTS = [Raises()]
    """,
    "argument within itself": """
        class Exp(Host):
            @kernel
            def run(self, x):
                pass

        LIST = []
        LIST.append(LIST)
        ARGUMENTS = [LIST]
    """,
}
