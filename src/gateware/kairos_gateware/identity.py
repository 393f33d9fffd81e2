"""The build id of a gateware: a hash over its Verilog, so that what does not change the logic does not change the id.

The id stands in the descriptor, which is itself a part of the logic. So a design is generated with a place holder, over
which the hash is taken, and in whose place it is then put.
"""

import hashlib
import re

__all__ = ["UNIDENTIFIED", "identify"]

UNIDENTIFIED = "not-identified-!"
"""Build id of a descriptor whose Verilog has not been generated yet; as long as each other."""


def identify(descriptor, verilog: str, *others: str | bytes) -> str:
    """Give the descriptor the build id of this design; return its Verilog with it.

    descriptor: `Descriptor` with the id `UNIDENTIFIED`, whose words the Verilog has as constants: those that depend on
    the id once each. others: further files of the design. The id is the first 16 hexadecimal digits of a SHA-256.
    Raises ValueError if the Verilog has another descriptor.
    """
    digest = hashlib.sha256()
    for content in (verilog, *others):
        data = content.encode() if isinstance(content, str) else content
        digest.update(len(data).to_bytes(8, "little") + data)
    before = descriptor.to_words()
    descriptor.build_id = digest.hexdigest()[: len(UNIDENTIFIED)]
    for old, new in zip(before, descriptor.to_words(), strict=True):
        if old != new:
            verilog, count = re.subn(rf"\d+'d{old};", f"{new.bit_length() or 1}'d{new};", verilog)
            if count != 1:
                raise ValueError("the Verilog does not have this descriptor's words once each")
    return verilog
