"""`bytes` and `bytearray`."""

from kairos.language import TByteArray, TBytes, TInt32, kernel, portable, rpc

from .marks import Marks


class BytesRead(Marks):
    def build(self):
        self.data = b"\x00\x7f\x80\xff"
        self.words = [b"one", b"three"]

    @kernel
    def run(self):
        b = b"abc\xfe"
        self.mark(b[0], b[-1], len(b), b, b == b"abc\xfe", b != self.data, 0xFE in b, 7 in b, len(b""))
        total = 0
        for x in self.data:
            total = total * 3 + x
        self.mark(total, [x + 1 for x in self.data], list(b), b[1:3], b[::-1], b[1:][0], b[10:] == b"")
        self.mark(b < b"abd", b"ab" < b, b >= b"abc\xff", self.words[1], len(self.words[0]))
        joined = b + self.data
        joined += b"!"
        self.mark(joined, len(joined), not joined, not b"")


class BytesOutOfRange(Marks):
    @kernel
    def run(self):
        data = bytearray(4)
        for i in [3, 4, -4, -5]:
            try:
                data[i] = 5
                self.mark(data[i])
            except IndexError:
                self.mark("index", i)
        for x in [255, 256, -1, 0]:
            try:
                data[0] = x
                self.mark(data[0])
            except ValueError:
                self.mark("value", x)
        try:
            data[9] = 300
        except ValueError:
            self.mark("the value is looked at first")
        except IndexError:
            self.mark("the index is looked at first")
        try:
            bytes([1, 300])
        except ValueError:
            self.mark("list")


@portable
def fill(target: TByteArray, value: TInt32):
    for i in range(len(target)):
        target[i] = value + i


class ByteArrays(Marks):
    @kernel
    def run(self):
        a = bytearray(b"hello")
        b = a
        b[0] = 72
        b[-1] += 1
        a[1] ^= 0xFF
        self.mark(a, a is b, a == b, a == b"H\x9allp", b"H" == a[:1], len(a))
        part = a[1:3]
        part[0] = 0
        self.mark(part, a[1])
        a[1:4] = b"xyz"
        a[::2] = bytearray([1, 2, 3])
        self.mark(a, bytes(a), bytes(3), bytearray(2), bytes([1, 2, 255]), bytearray(range(3)), bytearray())
        fill(b, 65)
        self.mark(a, a > b"ABC", bytes(a) + b"!")


class BytesAndTheHost(Marks):
    def build(self):
        self.given = []
        self.buffer = bytearray(6)
        self.other = bytearray(b"other")
        self.last = b"nothing"

    @rpc
    def echo(self, data) -> TBytes:
        self.given.append(bytes(data))
        return bytes(data) + b"\x00!"

    @rpc
    def array(self, count: TInt32) -> TByteArray:
        return bytearray(range(count))

    @kernel
    def work(self):
        back = self.echo(b"\x00\xff")
        data = self.array(5)
        data[0] = 9
        self.mark(back, len(back), data, self.echo(data)[0], len(self.array(0)))
        for i in range(len(self.buffer)):
            self.buffer[i] = back[i % len(back)]
        self.last = b"kept"

    def run(self):
        self.work()
        self.mark(self.given, self.buffer, self.other, self.last)
