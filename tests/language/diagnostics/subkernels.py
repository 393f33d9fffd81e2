"""Subkernels."""

PROGRAMS = {
    "keyword": "subkernel_preload(function=1)",
    "destination": "subkernel_send(256, 'a', 1)",
    "arguments": "subkernel_await()",
    "no subkernel": "subkernel_await(self.helper)",
    "no function": "subkernel_preload(5)",
    "no body": """
        @subkernel(destination=1)
        def f() -> TInt32:
            ...


        class Exp(Host):
            @kernel
            def run(self):
                f()
                return subkernel_await(f)
    """,
    "result that is not awaited": """
        @subkernel(destination=1)
        def f() -> TInt32:
            return 3


        class Exp(Host):
            @kernel
            def run(self):
                f()
                x = f()
                return x
    """,
    "time": """
        @subkernel(destination=1)
        def f():
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f()
                subkernel_await(f, 1.5)
    """,
    "subkernel of this board": """
        @subkernel(destination=1)
        def g():
            pass


        @subkernel(destination=1)
        def f():
            subkernel_await(g)


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "type of a message": "x = subkernel_recv('a', int)",
    "type that is none": "x = subkernel_recv('a', nothing)",
    "name of a message": "subkernel_send(1, self.name, 1)",
    "nobody receives": "subkernel_send(1, 'a', 1)",
    "nobody sends": "x = subkernel_recv('a', TInt32)",
    "host of a subkernel": """
        @subkernel(destination=1)
        def f():
            remote()


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "function for a subkernel": """
        @subkernel(destination=1)
        def f(x):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f(self.helper)
    """,
    "object for a subkernel": """
        @subkernel(destination=1)
        def f(x):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                f(self.other)
    """,
    "host behind a subkernel": """
        @kernel
        def helper():
            remote()


        @subkernel(destination=1)
        def f():
            helper()


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "annotation of a subkernel": """
        @portable
        def f(x: 'undefined'):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                subkernel_await(f)
    """,
}
