"""`with interleave`."""

PROGRAMS = {
    "while interleaved": """
        with interleave:
            while self.flag:
                delay_mu(1)
    """,
    "if interleaved": """
        with interleave:
            if self.flag:
                delay_mu(1)
    """,
    "return from interleave": """
        with interleave:
            return
    """,
    "a part of an expression": """
        with interleave:
            x = self.delays() + 1
    """,
    "at_mu interleaved": """
        with interleave:
            at_mu(5)
    """,
    "computed delay": """
        x = self.wide
        with interleave:
            delay_mu(x)
    """,
    "delay that is too long": """
        with interleave:
            delay(1e300)
    """,
    "recursion": """
        class Exp(Host):
            @kernel
            def f(self):
                delay_mu(1)
                self.f()

            @kernel
            def run(self):
                with interleave:
                    self.f()
    """,
    "recursive function inside": """
        def f():
            delay_mu(1)
            f()
        with interleave:
            f()
    """,
    "delay of a choice": """
        with interleave:
            (delay_mu(1) if self.flag else delay_mu(2))
    """,
    "loop over a list": """
        with interleave:
            for i in self.list:
                delay_mu(1)
    """,
    "parallel inside": """
        with interleave:
            with parallel:
                delay_mu(1)
    """,
    "too many steps": """
        with interleave:
            for i in range(100000):
                delay_mu(1)
    """,
    "delay as an argument": """
        with interleave:
            print(delay_mu(1))
    """,
    "delay in an assignment": """
        class Exp(Host):
            @kernel
            def delays(self):
                delay_mu(1)
                return 1

            @kernel
            def run(self):
                with interleave:
                    x = self.delays()
    """,
}
