"""Numbers and operators."""

PROGRAMS = {
    "narrowed": """
        class Exp(Host):
            @kernel
            def run(self):
                self.take(now_mu() + 1)

            @kernel
            def take(self, n: TInt32):
                pass
    """,
    "constant that does not fit": """
        x = int32(1)
        x = 2**40
    """,
    "constant that is rounded to fit": """
        x = int32(1)
        x = round(1e12 / 7)
    """,
    "operation whose constant does not fit": """
        x: TInt32 = self.number
        x = 0x7fffffff * 4
    """,
    "default that does not fit": """
        @portable
        def f(x: TInt32 = 2**40):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "literal beyond all": "return 9223372036854775808",
    "complex": "return 1j",
    "integer where a float is needed": "delay(1)",
    "wide where narrow is needed": """
        x = int32(5)
        delay_mu(x)
    """,
    "quotient that the reference rounds otherwise": "return -7 // 2",
    "bits of a float": "return 1 << 2.0",
    "inverted float": "return ~1.0",
    "text minus number": "return 'a' - 1",
    "truth times number": """
        x = True
        x += 1
    """,
    "order of lists of objects": "return [self.other] < [self.other]",
    "function plus function": "return len + len",
    "order of nothing": "return self.none < self.none",
    "equality of functions": "return self.helper == self.helper",
}
