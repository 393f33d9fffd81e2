"""Syntax that is not allowed in kernels."""

PROGRAMS = {
    "async generator": "x = sum(i async for i in self.list)",
    "unpacked keywords": "remote(**self.list)",
    "raise from": "raise ValueError from ValueError",
    "set": "x = {1, 2}",
    "dictionary": "x = {1: 2}",
    "await": "return (yield 1)",
    "starred": "remote(*self.list)",
    "ellipsis": "return ...",
    "global": """
        global x
        x = 1
    """,
    "import": "import os",
    "delete": """
        x = 1
        del x
    """,
    "match": """
        match self.number:
            case 1:
                pass
    """,
    "class": """
        class C:
            pass
    """,
    "nested too deeply": "return " + "-" * 600 + "1",
    "long line": "x = [" + "1, " * 200 + "missing" + ", 2" * 200 + "]",
    "several lines": """
        x = (self.number +
             'a' +
             2)
    """,
    "the name of an order": """
        with sequential as s:
            pass
    """,
    "order and manager": """
        with parallel, self.manager:
            pass
    """,
    "generator on its own": "x = [(i for i in self.list)]",
    "format without its value": "x = '{} {}'.format(1)",
}
