"""Calls of the program's functions, the host and the firmware."""

PROGRAMS = {
    "not a function": "return self.number(1)",
    "forbidden": "hosts()",
    "context manager of the host": """
        class M:
            def __enter__(self):
                pass

            def __exit__(self, a, b, c):
                pass


        class Exp(Host):
            m = M()

            @kernel
            def run(self):
                with self.m:
                    pass
    """,
    "asynchronous with a result": """
        @rpc(flags={'async'})
        def f() -> TInt32:
            return 1


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "system call without a result type": """
        @syscall
        def f():
            raise NotImplementedError


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "system call with an argument without a type": """
        @syscall
        def f(x) -> TNone:
            raise NotImplementedError


        class Exp(Host):
            @kernel
            def run(self):
                f(1)
    """,
    "system call of another type": """
        @syscall('now_mu')
        def f() -> TInt32:
            raise NotImplementedError


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "system call with other arguments": """
        @syscall('at_mu')
        def f(a: TInt64, b: TInt64) -> TNone:
            raise NotImplementedError


        class Exp(Host):
            @kernel
            def run(self):
                f(1, 2)
    """,
    "system call with arguments of another type": """
        @syscall('at_mu')
        def f(a: TFloat) -> TNone:
            raise NotImplementedError


        class Exp(Host):
            @kernel
            def run(self):
                f(1.0)
    """,
    "too many arguments": "return self.helper(1, 2)",
    "unknown argument": "return kernel_of_ints(1, z=2)",
    "argument twice": "return kernel_of_ints(1, x=2)",
    "argument missing": "return kernel_of_ints()",
    "argument of another type": "return kernel_of_ints(1.5)",
    "object sent to the host that kernels make": """
        p = Point(1)
        remote(p)
    """,
    "function as an argument of the host": "remote(self.helper, kernel_of_ints, len)",
    "not in kernels": "return math.sin(1.0)",
    "mathematics that kernels do not have": "return np.i0(1.0)",
    "source cannot be read": """
        f = no_source()


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "lambda": """
        f = kernel(lambda self: 1)


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "annotation of no type": """
        @portable
        def f(x: int):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f(1)
    """,
    "annotation that fails": """
        @portable
        def f(x: 'undefined'):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f(1)
    """,
    "annotation of another kind": """
        @portable
        def f(x: 'dict'):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f(1)
    """,
    "annotated variable": "x: int = 1",
    "default of another type": """
        @portable
        def f(x: TInt32 = 1.5):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "default that no kernel can have": """
        @portable
        def f(x=1j):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "variadic": """
        @portable
        def f(*args):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "by name only": """
        @portable
        def f(*, x):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f(1)
    """,
    "asynchronous function": """
        @portable
        async def f():
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "decorated inside": """
        @rpc
        def g():
            pass
        g()
    """,
    "host needed": """
        class Exp(Host):
            @kernel
            def run(self):
                remote()

        ALONE = True
    """,
    "function whose result is not known": """
        class Exp(Host):
            @kernel
            def f(self):
                return self.f()

            @kernel
            def run(self):
                self.f()
    """,
    "another object as self": """
        class C:
            pass


        class Exp(Host):
            c = C()

            @kernel
            def run(self):
                self = self.c
    """,
    "self of another type": """
        class Exp(Host):
            @kernel
            def run(self: TInt32):
                pass
    """,
    "a method without self": """
        class C:
            @kernel
            def g():
                pass


        class Exp(Host):
            c = C()

            @kernel
            def run(self):
                self.c.g()
    """,
}
