"""Registers of a device by name, as attributes and items."""

import difflib
from collections.abc import Iterator

__all__ = ["Register", "Registers"]


class Registers:
    """Registers by name; as attributes the blocks of a device, or the registers of a block.

    The list is requested from the hub once; for a name not in it the request is repeated, since the
    device may have different gateware by now.
    """

    def __init__(self, lab, device: str, block: str = ""):
        self._lab, self._device, self._block = lab, device, block

    def _found(self, refresh: bool = False) -> dict:
        return self._lab.described_registers(self._device, refresh)

    def __getitem__(self, name: str) -> "Register":
        path = self._block + name
        described = self._found().get(path) or self._found(refresh=True).get(path)
        if described is None:
            raise KeyError(f"{self._device} has no register '{path}'{self._suggestion(path)}")
        return Register(self._lab, self._device, described)

    def _suggestion(self, path: str) -> str:
        near = difflib.get_close_matches(path, self._found(), 1, 0.7)
        return f"; did you mean '{near[0]}'?" if near else ""

    def __iter__(self) -> Iterator[str]:
        return (name[len(self._block) :] for name in self._found() if name.startswith(self._block))

    def __getattr__(self, name: str):
        if name.startswith("_"):
            # Looked up by copying and displaying, before the attributes are set.
            raise AttributeError(name)
        path = self._block + name
        for refresh in (False, True):
            found = self._found(refresh)
            if path in found:
                return self[name]
            if any(known.startswith(f"{path}/") for known in found):
                return Registers(self._lab, self._device, f"{path}/")
        # With these two Python says which one it may be.
        raise AttributeError(f"{self._device} has no register or block '{path}'", name=name, obj=self)

    def __setattr__(self, name: str, value):
        if not name.startswith("_"):
            raise AttributeError(f"a register is set by its `write`: {name}.write({value!r})")
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({name.split("/")[0] for name in self})

    _ipython_key_completions_ = __iter__

    def __repr__(self) -> str:
        return f"<registers of {self._device}: {', '.join(dir(self))}>"


class Register:
    """A register: `name` (``block/register``), `width` in bits, `readable`, `writable`."""

    __slots__ = ("_device", "_lab", "name", "readable", "width", "writable")

    def __init__(self, lab, device: str, described):
        self._lab, self._device = lab, device
        self.name, self.width = described.name, described.width
        self.readable, self.writable = described.readable, described.writable

    def read(self) -> int:
        """Read the value."""
        (value,) = self._lab.call("Registers", "Read", device=self._device, registers=[self.name]).values
        return value

    def write(self, value: int):
        """Write the value. HubError if it does not fit, or the register belongs to the firmware; also if it began a
        store in another board's memory that has failed, although it was acknowledged."""
        self._lab.call("Registers", "Write", device=self._device, register=self.name, value=value)

    def __repr__(self) -> str:
        may = " and ".join(word for word, may in (("read", self.readable), ("write", self.writable)) if may)
        return f"<register {self.name} of {self._device}: {self.width} bits, {may or 'the firmware’s own'}>"
