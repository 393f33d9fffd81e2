"""`with parallel` left before its end: the cursor is at the latest time that it has reached."""

from kairos.language import TInt32, at_mu, delay_mu, kernel, now_mu, parallel, rpc, sequential

from .marks import Marks


class Timed(Marks):
    """Marks times since the begin of each part."""

    @kernel
    def begin(self):
        at_mu(1000)

    @kernel
    def show(self, name):
        self.mark(name, now_mu() - 1000)


class LeftByBreakAndContinue(Timed):
    EXPECTED = [("break", 10), ("continue", 50), ("inner", 30), ("nested", 12), ("else", 8)]

    @kernel
    def run(self):
        self.begin()
        for i in range(5):
            with parallel:
                delay_mu(10)
                if i == 0:
                    break
                delay_mu(100)
        self.show("break")
        self.begin()
        for i in range(5):
            with parallel:
                delay_mu(10)
                if i < 9:
                    continue
                delay_mu(100)
        self.show("continue")
        self.begin()
        with parallel:
            with sequential:
                for i in range(3):
                    delay_mu(10)
                    if i == 1:
                        continue
                    delay_mu(0)
            delay_mu(5)
        self.show("inner")
        self.begin()
        while True:
            with parallel:
                delay_mu(12)
                with sequential:
                    delay_mu(3)
                    with parallel:
                        delay_mu(4)
                        delay_mu(2)
                        break
                delay_mu(100)
        self.show("nested")
        self.begin()
        for i in range(2):  # noqa: B007
            with parallel:
                delay_mu(4)
                delay_mu(-20)
        else:
            self.show("else")


class LeftByReturn(Timed):
    EXPECTED = [("return", 10), ("earlier", 10), ("finally", 40), ("end", 45), (3, 7)]

    @kernel
    def leaves(self, how) -> TInt32:
        with parallel:
            delay_mu(10)
            with sequential:
                if how == 1:
                    delay_mu(-5)
                if how == 2:
                    try:
                        delay_mu(40)
                        return 7
                    finally:
                        self.show("finally")
                        delay_mu(5)
                return 7
            delay_mu(100)
        return 1

    @kernel
    def run(self):
        self.begin()
        self.leaves(0)
        self.show("return")
        self.begin()
        self.leaves(1)
        self.show("earlier")
        self.begin()
        n = self.leaves(2)
        self.show("end")
        self.mark(3, n)


class LeftByException(Timed):
    EXPECTED = [
        ("raise", 10), ("far", 30), ("middle", 25), ("around", 30), ("finally", 15), ("after", 20), ("host", 60),
        ("kept", 9), ("again", 50), ("last", 50),
    ]  # fmt: skip

    @rpc
    def fail(self) -> TInt32:
        raise ValueError

    @kernel
    def far(self, depth):
        with parallel:
            delay_mu(5)
            with sequential:
                delay_mu(5)
                if depth == 0:
                    raise ValueError
                self.far(depth - 1)
            delay_mu(1000)

    @kernel
    def run(self):
        self.begin()
        try:
            with parallel:
                delay_mu(10)
                raise ValueError
        except ValueError:
            self.show("raise")
        self.begin()
        try:
            with parallel:
                delay_mu(30)
                self.far(3)
        except ValueError:
            self.show("far")
        self.begin()
        try:
            with parallel:
                delay_mu(1)
                with sequential:
                    self.middle()
        except ValueError:
            self.show("around")
        self.begin()
        try:
            with parallel:
                delay_mu(20)
                with sequential:
                    try:
                        with parallel:
                            delay_mu(15)
                            self.mark([0][len([1])])
                    finally:
                        self.show("finally")
        except IndexError:
            self.show("after")
        self.begin()
        try:
            with parallel:
                delay_mu(60)
                self.mark(self.fail())
        except ValueError:
            self.show("host")
        self.begin()
        with parallel:
            delay_mu(9)
            try:
                delay_mu(4)
                self.mark(self.fail())
            except ValueError:
                pass
        self.show("kept")
        self.begin()
        try:
            try:
                with parallel:
                    delay_mu(50)
                    raise IndexError
            except ValueError:
                self.show("wrong")
        except IndexError:
            self.show("again")
            with parallel:
                delay_mu(-10)
        self.show("last")

    @kernel
    def middle(self):
        try:
            with parallel:
                delay_mu(25)
                with sequential:
                    delay_mu(5)
                    raise ValueError
        finally:
            self.show("middle")
            delay_mu(5)
