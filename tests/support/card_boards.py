"""A Kasli-SoC with a Shuttler and a Songbird at its connectors, in the emulator: from descriptions to a system. The
Shuttler speaks DRTIO, as with its maker's gateware; the Songbird is a board of this project."""

from kairos_gateware.description import check, make_variant

from .gateware import built_as

__all__ = ["card_boards"]

_CARDS = {"shuttler": (8, "maker"), "songbird": (9, "kairos")}
"""Types, with the EEM connectors at which they are, and whose gateware they have."""


def _described(**fields):
    return make_variant(check({"hw_rev": "v1.1", "peripherals": []} | fields))


def _system(master, cards):
    """The emulator's description of these boards."""
    firmware = {"master": "runtime.elf", "songbird": "satman.elf"}
    text = "".join(
        f'[[board]]\nname = "{name}"\nvariant = "{variant}"\n'
        + (f'firmware = "{firmware[name]}"\n\n' if name in firmware else "\n")
        for name, variant in {"master": master.name, **cards}.items()
    )
    return text + "".join(f'[[link]]\nfrom = "master"\nto = "{card}"\ndelay_ns = 20\n\n' for card in cards)


def card_boards(folder):
    """Build the gateware of the boards, which takes a minute; returns the master's variant, and a file that describes
    the system, in `folder`."""
    peripherals = [{"type": card, "ports": [port], "gateware": of} for card, (port, of) in _CARDS.items()]
    dio = {"type": "dio", "ports": [0], "bank_direction_low": "input", "bank_direction_high": "output"}
    master = _described(target="kasli_soc", base="master", variant="card_master", peripherals=[dio, *peripherals])
    names = {card: f"card_{card}" for card in _CARDS}
    for card, name in names.items():
        built_as(_described(target="efc", base=card, variant=name, gateware=_CARDS[card][1]))
    built_as(master)
    path = folder / "system.toml"
    path.write_text(_system(master, names))
    return master, path
