"""All that a camera's words become, in their clock domain; what the logic reads of it, in that of the logic.

    words ─▶ Words ─▶ PacketReader ─┬▶ Images ─┬▶ Region ... ─▶ sums
                                    │          └▶ Viewer ─▶ words of pixels
                                    └▶ Answer ─▶ words

The sums of an image are kept until the next one ends.
"""

from types import SimpleNamespace

from migen import *

from .answer import Answer
from .crossing import LOGIC, Crossing
from .downlink import PacketReader, Words
from .image import COORDINATE_BITS, Images
from .line import WORD_BITS
from .region import REGION_CYCLES, Region
from .viewer import Viewer

__all__ = ["Reception", "Regions"]

_READER = "reader"
"""Name of the logic's domain within modules that are moved into that of the words."""


class Reception(Module):
    """domain: clock of the words; that of the logic, sys, may be another one.

    `stb` (in), `word` (in, 36 bits), in `domain`: a word that is not idle, four characters, the first one lowest.
    `images`: the `Images`, in `domain`. In sys: `settled` (out): nothing is in between, if `domain` is sys. `answer`:
    of an `Answer` the signals `answered`, `good`, `tagged`, `tag`, `code`, `index`, `word`; `image`: of `Images`,
    `frames`, `spoilt`, `width`, `height`, `format`; `viewer`: those of a `Viewer`."""

    def __init__(self, domain=LOGIC):
        self.stb, self.word, self.settled = Signal(), Signal(WORD_BITS), Signal()

        # # #

        moved = {} if domain == LOGIC else {LOGIC: domain, _READER: LOGIC}
        reader = _READER if moved else LOGIC
        inside = ClockDomainsRenamer(moved)(Module())
        self.submodules.inside = inside
        inside.submodules.words = words = Words()
        inside.submodules.packets = packets = PacketReader(words)
        inside.submodules.answer = answer = Answer(words, packets, reader)
        inside.submodules.images = self.images = images = Images(words, packets)
        inside.submodules.viewer = viewer = Viewer(images, reader)
        self.submodules.crossing = crossing = Crossing(domain)
        state = [viewer.waiting, viewer.kept]
        named = ["frames", "spoilt", "width", "height", "format"]
        waiting, kept, *counts = crossing.values([*state, *[getattr(images, name) for name in named]])
        self.image = SimpleNamespace(**dict(zip(named, counts, strict=True)))
        held = {name: crossing.held(getattr(answer, name), True) for name in ("good", "tagged", "tag", "code")}
        answered = crossing.pulse(answer.answered, True)
        self.answer = SimpleNamespace(answered=answered, index=answer.index, word=answer.word, **held)
        corners = {name: Signal(COORDINATE_BITS, name=name) for name in ("x0", "y0", "x1", "y1")}
        self.viewer = SimpleNamespace(
            start=Signal(), waiting=waiting, kept=kept, index=viewer.index, word=viewer.word, **corners
        )
        self.comb += [
            words.take.eq(self.stb),
            words.characters.eq(self.word),
            viewer.start.eq(crossing.pulse(self.viewer.start)),
            *[getattr(viewer, name).eq(crossing.held(corner)) for name, corner in corners.items()],
            self.settled.eq(images.settled if domain == LOGIC else 1),
        ]


class Regions(Module):
    """corners: x0, y0, x1, y1 of each region, in sys; bits: of a sum. `sums` (out), in sys: those of an image, from
    `end` (out), for a cycle, on. `settled` (out): nothing is in between, if that is the domain of the words."""

    def __init__(self, images, corners, bits, domain=LOGIC):
        self.end, self.settled = Signal(), Signal()

        # # #

        self.submodules.inside = inside = ClockDomainsRenamer(domain)(Module())
        self.submodules.crossing = crossing = Crossing(domain)
        late, ended = Signal(REGION_CYCLES), Signal()
        sums = []
        for n, edges in enumerate(corners):
            inside.submodules += (region := Region(images, [crossing.held(edge) for edge in edges], bits))
            sums.append(kept := Signal(bits, name=f"sum_{n}"))
            inside.sync += If(late[-1], kept.eq(region.sum))
        inside.sync += [late.eq(Cat(images.end, late[:-1])), ended.eq(late[-1])]
        self.sums = [crossing.held(kept, True) for kept in sums]
        self.comb += [
            self.end.eq(crossing.pulse(ended, True)),
            self.settled.eq(~images.end & (late == 0) & ~ended if domain == LOGIC else 1),
        ]
