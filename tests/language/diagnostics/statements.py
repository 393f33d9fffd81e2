"""Statements."""

PROGRAMS = {
    "unreachable": """
        return
        x = 1
    """,
    "function as a condition": """
        if self.helper:
            return
        while not len:
            pass
    """,
    "clause behind one for everything": """
        try:
            self.helper(1)
        except Exception:
            pass
        except ValueError:
            pass
    """,
    "not always set": """
        if self.flag:
            y = 1
        return y
    """,
    "not always set where a function inside uses it": """
        def f():
            return y
        if self.flag:
            y = 1
        return f()
    """,
    "missing return": """
        if self.flag:
            return 1
    """,
    "never known": """
        def endless(x):
            return endless(x)
        endless(1)
    """,
    "assertion with a message that is no text": "assert self.flag, self.number",
    "no context manager": """
        with 5:
            pass
    """,
    "no exception": "raise 5",
    "message that is no text": "raise ValueError(self.number)",
    "four parameters of an exception": "raise ValueError('a', 1, 2, 3, 4)",
    "list changed in place": "self.list += [1]",
    "variable of two types": """
        x = 1
        x = 'a'
    """,
    "index of nothing assigned": "None[0] = 1",
    "attribute of a number assigned": "self.number.x = 5",
    "manager without __enter__": """
        with self.other:
            pass
    """,
}
