"""Names and attributes."""

PROGRAMS = {
    "a misspelt name": """
        paralel = 1
        return paralell
    """,
    "a misspelt attribute": "return self.nmae",
    "a global whose value no kernel can have": """
        N = 2**70


        class Exp(Host):
            @kernel
            def run(self):
                return N
    """,
    "a misspelt name of a module": "return math.nothing",
    "a global of different types": """
        N = [1, 'a']


        class Exp(Host):
            @kernel
            def run(self):
                return N[0]
    """,
    "a global of a type that kernels do not have": """
        N = 1j


        class Exp(Host):
            @kernel
            def run(self):
                x = N
    """,
}
