"""Registers as data: the fields of a chip's registers, for the host and for kernels.

The classes in `kairos.coredevice.chips` are generated from tables; each is a `Register` whose
attributes are its fields. On the host a register is encoded from quantities and names, with checks,
and decoded to them. In kernels the fields insert numbers into words and extract them; these
operations are inlined and cost no more than handwritten shifts.
"""

from ..language import TBool, TInt32, TInt64, host_only, portable
from ..numeric import int32, int64
from .parts.numbers import to_int32

__all__ = ["Field", "Register", "WideField"]


class Field:
    """Bits of a register of up to 32 bits: `width` bits from bit `low` on, or `count` such fields
    side by side.

    `range`: the allowed numbers, all that fit if None. `values`: names of numbers. `unit`, `steps`:
    a quantity, and the steps per unit. `signed`: two's complement. `mask` and `all` are the maximum
    of one and of all fields as kernels need them, `sign` is the sign bit; `stride` is 0 for a
    single field.
    """

    kernel_invariants = {"low", "width", "stride", "mask", "all", "sign"}

    def __init__(
        self, low, width, reset=0, count=1, range=None, values=None, unit="", steps=None, signed=False, doc=""
    ):
        self.low = low
        self.width = width
        self.count = count
        self.stride = width if count > 1 else 0
        self.mask = self._number((1 << width) - 1)
        self.all = self._number((1 << width * count) - 1)
        self.sign = self._number(1 << width - 1 if signed else 0)
        self.reset = reset
        self.range = range or ((-1 << width - 1, (1 << width - 1) - 1) if signed else (0, (1 << width) - 1))
        self.values = values or {}
        self.unit = unit
        self.steps = steps
        self.signed = signed
        self.__doc__ = doc
        self.name = self.owner = None

    _number = staticmethod(to_int32)

    def __set_name__(self, owner, name):
        self.name = name
        self.owner = owner

    # In kernels and on the host

    @portable(flags={"forceinline"})
    def place(self, number) -> TInt32:
        """Return a word with `number` in this field and zeros elsewhere; excess high bits are
        dropped."""
        return (number & self.mask) << self.low

    @portable(flags={"forceinline"})
    def get(self, word) -> TInt32:
        """Extract the number in this field of a word."""
        return (((word >> self.low) & self.mask) ^ self.sign) - self.sign

    @portable(flags={"forceinline"})
    def put(self, word, number) -> TInt32:
        """Return `word` with `number` in this field."""
        return (word & ~(self.mask << self.low)) | ((number & self.mask) << self.low)

    @portable(flags={"forceinline"})
    def get_at(self, word, index) -> TInt32:
        """Extract the number in field `index` of several; `index` is ignored for a single field."""
        return (word >> (self.low + self.stride * index)) & self.mask

    @portable(flags={"forceinline"})
    def put_at(self, word, index, number) -> TInt32:
        """Return `word` with `number` in field `index` of several; `index` is ignored for a single
        field."""
        place = self.low + self.stride * index
        return (word & ~(self.mask << place)) | ((number & self.mask) << place)

    @portable(flags={"forceinline"})
    def put_all(self, word, numbers) -> TInt32:
        """Return `word` with the bits `numbers` in all fields, the first one lowest."""
        return (word & ~(self.all << self.low)) | ((numbers & self.all) << self.low)

    @portable(flags={"forceinline"})
    def switch_at(self, word, index, on: TBool) -> TInt32:
        """Return `word` with bit `index` of several, or the bit of a single field, set or cleared."""
        bit = int32(1) << (self.low + self.stride * index)
        return word | bit if on else word & ~bit

    # On the host

    @host_only
    def check(self, number, name=None):
        """Return `number` if it is allowed in the field; else ValueError, which calls it `name`."""
        low, high = self.range
        if not low <= number <= high:
            chip = self.owner.chip
            article = "an" if chip[0] in "AEIOU" else "a"
            raise ValueError(f"{name or self.name} of {article} {chip} is between {low} and {high}, not {number}")
        return number

    @host_only
    def number(self, value):
        """Convert a quantity (float) or the name of a number to the number; numbers are returned as
        they are. ValueError if it is not allowed."""
        if isinstance(value, str):
            if value not in self.values:
                raise ValueError(f"{self.name} of {self.owner.name} is one of {', '.join(self.values)}, not {value!r}")
            return self.values[value]
        if isinstance(value, float):
            if self.steps is None:
                raise ValueError(f"{self.name} of {self.owner.name} is a plain number, not a quantity such as {value}")
            value = round(value * self.steps)
        return self.check(int(value))

    @host_only
    def meaning(self, number):
        """Return the name or quantity of a number, or the number itself."""
        if self.signed and number >> self.width - 1:
            number -= 1 << self.width
        for name, value in self.values.items():
            if value == number:
                return name
        return number if self.steps is None else number / self.steps

    @host_only
    def read(self, word):
        """Extract the number in this field of a word of any width; a list for several fields."""
        found = self.split(word >> self.low)
        return found if self.count > 1 else found[0]

    @host_only
    def split(self, numbers):
        """Split the bits of several fields into a list of numbers."""
        return [numbers >> n * self.width & (1 << self.width) - 1 for n in range(self.count)]


class WideField(Field):
    """Bits of a register of 33 to 64 bits: words are int64, the numbers in them int32."""

    _number = staticmethod(int64)

    @portable(flags={"forceinline"})
    def place(self, number) -> TInt64:
        return (int64(number) & self.mask) << self.low

    @portable(flags={"forceinline"})
    def get(self, word: TInt64) -> TInt32:
        return int32((word >> self.low) & self.mask)

    @portable(flags={"forceinline"})
    def put(self, word: TInt64, number) -> TInt64:
        return (word & ~(self.mask << self.low)) | ((int64(number) & self.mask) << self.low)

    @portable(flags={"forceinline"})
    def get_at(self, word: TInt64, index) -> TInt32:
        return int32((word >> (self.low + self.stride * index)) & self.mask)

    @portable(flags={"forceinline"})
    def put_at(self, word: TInt64, index, number) -> TInt64:
        place = self.low + self.stride * index
        return (word & ~(self.mask << place)) | ((int64(number) & self.mask) << place)

    @portable(flags={"forceinline"})
    def put_all(self, word: TInt64, numbers) -> TInt64:
        return (word & ~(self.all << self.low)) | ((int64(numbers) & self.all) << self.low)

    @portable(flags={"forceinline"})
    def switch_at(self, word: TInt64, index, on: TBool) -> TInt64:
        bit = int64(1) << (self.low + self.stride * index)
        return word | bit if on else word & ~bit


class Register:
    """A register of `chip`: `width` bits at `address`, `count` of them at consecutive addresses.
    Not instantiated.

    `fields`: its fields by name. `reset`: its value after a reset, 0 if unknown.
    """

    chip = ""
    name = ""
    address = None
    count = 1
    width = 32
    reset = 0
    fields: dict = {}

    def __init_subclass__(cls):
        cls.name = cls.__name__
        cls.fields = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}

    @classmethod
    def encode(cls, **values) -> int:
        """Encode a word from fields: numbers, quantities (float), names of numbers, lists for
        several fields. The other bits have their reset values. TypeError for an unknown field,
        ValueError for a value that is not allowed.
        """
        word = cls.reset
        for name, value in values.items():
            if name not in cls.fields:
                raise TypeError(f"the {cls.chip} has no field {name} in {cls.name}; it has {', '.join(cls.fields)}")
            field = cls.fields[name]
            parts = value if isinstance(value, list | tuple) else [value] * field.count
            if len(parts) != field.count:
                raise ValueError(f"{name} of {cls.name} are {field.count} numbers, not {len(parts)}")
            for n, part in enumerate(parts):
                place, mask = field.low + n * field.width, (1 << field.width) - 1
                word = word & ~(mask << place) | (field.number(part) & mask) << place
        return word

    @classmethod
    def decode(cls, word) -> dict:
        """Decode a word to names or quantities of all fields, by name; lists for several fields."""
        found = {}
        for name, field in cls.fields.items():
            numbers = field.read(int(word))
            several = isinstance(numbers, list)
            found[name] = [field.meaning(n) for n in numbers] if several else field.meaning(numbers)
        return found
