"""Exceptions."""

from kairos.exceptions import RTIOUnderflow
from kairos.language import TInt32, kernel, rpc

from .marks import Marks


class Own(Exception):
    pass


class SeveralClasses(Marks):
    @kernel
    def run(self):
        for i in range(5):
            try:
                try:
                    if i == 0:
                        raise ValueError
                    elif i == 1:
                        raise IndexError
                    elif i == 2:
                        raise Own
                    elif i == 3:
                        raise RuntimeError
                    self.mark(i, "none")
                except (ValueError, Own):
                    self.mark(i, "first")
                except IndexError as e:
                    self.mark(i, "second")
                    raise e
                finally:
                    self.mark(i, "finally")
            except (Own, Exception):
                self.mark(i, "outside")


class BuiltinExceptions(Marks):
    @rpc
    def fail(self, which) -> TInt32:
        if which == 0:
            return {}["key"]
        if which == 1:
            raise NotImplementedError("host")
        if which == 2:
            raise PermissionError("host")
        return -1

    @kernel
    def run(self):
        for i in range(4):
            try:
                self.mark(self.fail(i))
            except KeyError:
                self.mark(i, "key")
            except NotImplementedError:
                self.mark(i, "not implemented")
            except (TypeError, PermissionError, AttributeError):
                self.mark(i, "others")
        for i in range(3):
            try:
                if i == 0:
                    raise KeyError("a")
                elif i == 1:
                    raise OverflowError
                raise TimeoutError("b")
            except KeyError:
                self.mark("key")
            except OverflowError:
                self.mark("overflow")
        self.mark("not reached")


class ValueThatIsNotRaised(Marks):
    def build(self):
        self.choice = False

    @kernel
    def run(self):
        e = ValueError("first")
        ValueError("never")
        for i in range(3):
            try:
                if i == 1:
                    e = ValueError("second")
                raise e
            except ValueError:
                self.mark(i, "caught")
        chosen = IndexError("left") if self.choice else IndexError("right")
        try:
            raise chosen
        except ValueError:
            self.mark("wrong")
        except IndexError:
            self.mark("index")
        raise e


class Family(Exception):
    pass


class Child(Family):
    pass


class Grandchild(Child, LookupError):
    pass


class Apart(Family, ValueError):
    pass


class SubclassesRaisedByKernels(Marks):
    @kernel
    def throw(self, which):
        if which == 0:
            raise Family
        elif which == 1:
            raise Child("child {0}", 5)
        elif which == 2:
            raise Grandchild
        elif which == 3:
            raise Apart
        elif which == 4:
            self.mark([1, 2, 3][which])
        elif which == 5:
            self.mark(1 // (which - 5))
        elif which == 6:
            raise OverflowError
        elif which == 7:
            raise NotImplementedError
        raise KeyError

    @kernel
    def run(self):
        for i in range(9):
            try:
                try:
                    self.throw(i)
                except Child:
                    self.mark(i, "child")
                except (ArithmeticError, ValueError):
                    self.mark(i, "arithmetic or value")
                except LookupError as e:
                    self.mark(i, "lookup")
                    raise e
                finally:
                    self.mark(i, "finally")
            except Family:
                self.mark(i, "family")
            except RuntimeError:
                self.mark(i, "run time")
            except BaseException:
                self.mark(i, "any")


class SubclassesRaisedByTheHost(Marks):
    """Of classes that the kernel does not name, too."""

    @rpc
    def throw(self, which) -> TInt32:
        class Unknown(Child):
            pass

        class Both(Unknown, OSError):
            pass

        errors = [Unknown("a"), Both("b"), Apart("c"), FileNotFoundError(2, "d"), UnicodeError("e")]
        errors += [Grandchild("f"), ConnectionResetError("g"), IndexError("h"), RecursionError("i")]
        raise errors[which]

    @kernel
    def run(self):
        for i in range(9):
            try:
                try:
                    self.mark(self.throw(i))
                except Child:
                    self.mark(i, "child")
                except (ArithmeticError, ValueError):
                    self.mark(i, "arithmetic or value")
                except LookupError:
                    self.mark(i, "lookup")
                    raise
            except (Family, IndexError):
                self.mark(i, "family or index")
            except OSError:
                self.mark(i, "operating system")
            except RuntimeError:
                self.mark(i, "run time")
        try:
            self.throw(3)
        except ArithmeticError:
            self.mark("not this")
        except Family:
            self.mark("nor this")


class ClausesDoNotReadParameters(Marks):
    """The parameters of an exception of a kernel say nothing of its class."""

    @rpc
    def answer(self) -> TInt32:
        return 3

    @kernel
    def run(self):
        self.mark(self.answer())
        for i in range(2):
            try:
                if i == 0:
                    raise RuntimeError("{0} {1}", -1, -1)
                raise OverflowError("{0}", -1)
            except Family:
                self.mark(i, "family")
            except ArithmeticError:
                self.mark(i, "arithmetic")
            except RuntimeError:
                self.mark(i, "run time")


class MessagesOfTheHost(Marks):
    """Braces have no meaning in them."""

    TEXTS = ["run_{0}.h5", "\\frac{0}{0}", "{", "}{", "{{}}", "{rtio_channel_info:0}", "{0.__class__}", "%s %d", ""]

    @rpc
    def fail(self, which) -> TInt32:
        raise KeyError(self.TEXTS[which]) if which % 2 else ValueError(self.TEXTS[which])

    @kernel
    def relay(self, which):
        try:
            self.fail(which)
        except OverflowError:
            self.mark("not this")

    @kernel
    def again(self, which):
        try:
            self.fail(which)
        except Exception as e:
            self.mark(which)
            raise e

    def run(self):
        for kernel_ in (self.relay, self.again):
            for which in range(len(self.TEXTS)):
                try:
                    kernel_(which)
                except Exception as error:
                    self.mark(type(error).__name__, error.args, str(error))


class BracesInKernels(Marks):
    """A message without parameters is no template, as the text of an exception is none in Python."""

    def call(self, number):
        try:
            self.failing(number)
        except Exception as error:
            self.trace.append((type(error).__name__, str(error)))

    @kernel
    def failing(self, number):
        if number == 0:
            raise ValueError("run_{0}.h5 and {1}")
        if number == 1:
            raise IndexError("{{0}} {2} \\frac{0}{0}")
        if number == 2:
            stored = RuntimeError("{0}")
            raise stored
        if number == 3:
            try:
                raise RTIOUnderflow("}{ {0:#x}")
            finally:
                self.mark(number)
        assert number == 5, "{0} of {1}"

    def run(self):
        for number in range(5):
            self.call(number)


class OfTwoParts(Exception):
    """Cannot be made from a text alone."""

    def __init__(self, part, other, *, code=0):
        super().__init__(part, other)
        self.code = code


class ExceptionsOfTheHostAreTheirObjects(Marks):
    """What leaves a kernel is the exception that the host function raised, with arguments, attributes and cause."""

    def build(self):
        self.raised = []
        self.errors = [
            OfTwoParts("a", 5, code=3),
            FileNotFoundError(2, "No such file", "shots.h5"),
            UnicodeDecodeError("utf-8", b"x", 0, 1, "no character"),
            KeyError(5),
            KeyError(("ion", 1)),
            ValueError(1, 2.5, "x"),
            SystemError(),
            BaseException("of all"),
            ValueError("same text"),
            ValueError("same text"),
        ]

    @rpc
    def fail(self, which):
        if which == 1:
            raise self.errors[which] from KeyError("cause")
        raise self.errors[which]

    @kernel
    def relay(self, which):
        self.fail(which)

    @kernel
    def again(self, which):
        try:
            self.fail(which)
        except BaseException as e:
            self.mark(which)
            raise e

    @kernel
    def behind_another(self, which):
        try:
            self.fail(which)
        except BaseException:
            try:
                self.fail(0)
            except OfTwoParts:
                self.mark("other")
            raise

    @kernel
    def replaced(self, which):
        try:
            self.fail(which)
        finally:
            self.fail(3)

    @kernel
    def own(self, which):
        try:
            self.fail(which)
        except BaseException:
            raise ValueError("same text")  # noqa: B904

    def run(self):
        for kernel_ in (self.relay, self.again, self.behind_another, self.replaced, self.own):
            for which in range(len(self.errors)):
                try:
                    kernel_(which)
                except BaseException as error:
                    places = [place for place, other in enumerate(self.errors) if other is error]
                    self.mark(type(error).__name__, error.args, places, repr(error.__cause__))


class StopsOfKernels(Marks):
    """Exceptions that are none of `Exception`."""

    @kernel
    def stop(self, which):
        if which == 0:
            raise Interruption("own")
        if which == 1:
            raise KeyboardInterrupt("of Python")
        raise SystemExit("end")

    def run(self):
        for which in range(3):
            try:
                self.stop(which)
            except BaseException as error:
                self.mark(type(error).__name__, str(error))


class Interruption(BaseException):
    pass
