"""Functions of the language."""

PROGRAMS = {
    "divmod of floats": "x = divmod(1.5, 1.0)",
    "pow with a modulus": "x = pow(2, 3, 5)",
    "default beside several values": "x = max(1, 2, default=3)",
    "keyword of an exception": "raise ValueError(message='a')",
    "sorted with a key": "x = sorted(self.list, self.list)",
    "sorted with a computed reverse": "x = sorted(self.list, reverse=self.flag)",
    "sorted by a key that is computed": "x = sorted(self.list, key=[abs][0])",
    "sorted without order": "x = sorted([self.other])",
    "unknown keyword": "delay(duration=1.0)",
    "unknown keyword of print without a host": """
        class Exp(Host):
            @kernel
            def run(self):
                print(1, sep='')

        ALONE = True
    """,
    "number of arguments": "x = len(self.list, 1)",
    "bytes of a float": "x = bytes(1.5)",
    "reversed of zip": """
        for a, b in reversed(zip(self.list, self.list)):
            pass
    """,
    "text of a function of the host": "x = self.other.method('a', 1)",
    "log of an object": "core_log(self.other)",
    "generator kept": """
        x = zip(self.list, self.list)
        return 1
    """,
    "generator in a variable": "x = (i for i in self.list)",
    "int of text": "return int('1')",
    "keyword of sorted": "x = sorted(self.list, by=1)",
    "order as a function": "parallel()",
    "length of a number": "return len(1)",
    "bytes of floats": "x = bytes([1.5])",
    "function in a text": "x = f'{len}'",
    "going over a tuple of different types": """
        for i in (1, 'a'):
            pass
    """,
    "keyword of an exception of one's own": "raise MyError(x=1)",
    "keyword of mathematics": "x = np.sin(1.0, x=2)",
}
