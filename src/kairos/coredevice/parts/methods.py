"""Kernel methods generated from one routine and varying data.

A function that generates such methods closes over the data and decorates the routine with `made`; a
class assigns the result to the public name::

    def command(address, data, text):
        @made(text)
        def command(self):
            rtio_output(self.target + address, data)

        return command

    class Shutter(RTIODevice):
        open = command(0, 1, "Open the shutter.")
        close = command(0, 0, "Close it.")

The compiler reads the routine at its definition and treats the data as constants. Tracebacks show
the public name and the line of the routine.
"""

from ...language import kernel

__all__ = ["Made", "made"]


class Made:
    """A method whose class and name are not known yet."""

    def __init__(self, routine, text):
        self.method = kernel(routine)
        self.text = text

    def __set_name__(self, owner, name):
        # The compiler finds the routine by its `__name__`; users see the qualified name.
        for function in (self.method, self.method.artiq_embedded.function):
            function.__module__ = owner.__module__
            function.__qualname__ = f"{owner.__qualname__}.{name}"
            function.__doc__ = self.text
        self.method.__name__ = name
        setattr(owner, name, self.method)


def made(text):
    """Decorator: turns the routine into a kernel method, with this docstring, of the class that it
    is assigned to."""
    return lambda routine: Made(routine, text)
