"""Classes and objects."""

PROGRAMS = {
    "isinstance of a class of numbers": """
        from enum import IntEnum

        class Mode(IntEnum):
            FAST = 1


        class Exp(Host):
            @kernel
            def run(self):
                return isinstance(self.number, Mode)
    """,
    "isinstance of no class": "return isinstance(self.other, 5)",
    "isinstance of a module": "return isinstance(self.other, math)",
    "isinstance of an exception": """
        try:
            pass
        except ValueError as e:
            return isinstance(e, ValueError)
    """,
    "object that says itself whether it is true": """
        class Empty:
            def __len__(self):
                return 0


        class Exp(Host):
            empty = Empty()

            @kernel
            def run(self):
                if self.empty:
                    pass
    """,
    "any of objects that say themselves whether they are true": """
        class Empty:
            def __len__(self):
                return 0


        class Exp(Host):
            empty = Empty()

            @kernel
            def run(self):
                return any([self.empty])
    """,
    "super in a function inside": """
        def f():
            super().helper(1)
        f()
    """,
    "super without a method": """
        @portable
        def f():
            super().x()


        class Exp(Host):
            @kernel
            def run(self):
                f()
    """,
    "super of no class": "super(5, self).helper(1)",
    "super with one argument": "super(Host).helper(1)",
    "super of no object": """
        @portable
        def f(x):
            super().y()


        class Exp(Host):
            @kernel
            def run(self):
                f(1)
    """,
    "super of another class": "super(Other, self).helper(1)",
    "super of a value": """
        class Base:
            value = 3


        class Exp(Host, Base):
            @kernel
            def run(self):
                return super().value
    """,
    "super without such a method": "super().nothing()",
    "class without a constructor": """
        class Empty:
            pass


        class Exp(Host):
            @kernel
            def run(self):
                x = Empty(1)
    """,
    "class that only the host makes": """
        class Meta(type):
            pass


        class Unit(metaclass=Meta):
            pass


        class Exp(Host):
            @kernel
            def run(self):
                x = Unit()
    """,
    "class whose constructor is no function": """
        class Unit:
            __init__ = print


        class Exp(Host):
            @kernel
            def run(self):
                x = Unit()
    """,
    "module called": "x = math()",
    "method of the host of an object made": """
        p = Point(1)
        p.of_the_host()
    """,
    "attribute that an object made does not have": """
        p = Point(1)
        return p.y
    """,
    "property of an object made": """
        class Unit:
            @property
            def x(self):
                return 1


        class Exp(Host):
            @kernel
            def run(self):
                return Unit().x
    """,
    "attribute that is not always set": """
        class Unit:
            def __init__(self, flag):
                if flag:
                    self.x = 1


        class Exp(Host):
            @kernel
            def run(self):
                return Unit(self.flag).x
    """,
    "attribute that nothing sets before": """
        class Unit:
            pass


        class Exp(Host):
            @kernel
            def run(self):
                m = Unit()
                m.x = 1
    """,
    "invariant that is none": """
        class Wrong:
            kernel_invariants = {'missing'}


        class Exp(Host):
            wrong = Wrong()

            @kernel
            def run(self):
                x = self.wrong
    """,
    "attributes of another object": """
        class Some:
            def __init__(self, **values):
                vars(self).update(values)


        class Exp(Host):
            items = [Some(x=1), Some(y=1)]

            @kernel
            def run(self):
                return self.items[0].x
    """,
    "objects that make others without end": """
        class Anything:
            def __getattr__(self, name):
                return Anything()


        class Exp(Host):
            any = Anything()

            @kernel
            def run(self):
                return self.any.one.two
    """,
    "property that raises": """
        class Some:
            @property
            def x(self):
                raise ValueError('of the user')


        class Exp(Host):
            some = Some()

            @kernel
            def run(self):
                return self.some.x
    """,
    "class that Kairos lacks": """
        from kairos.compat.absent import absent

        Some = absent("artiq.some.Some", "set it with another")


        class Exp(Host):
            @kernel
            def run(self):
                Some.set()
    """,
    "comparison of objects with their own equality": "return self.manager == self.manager",
    "order of objects": "return self.other < self.other",
}
