"""Exceptions."""

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
