"""The build id of a gateware: a hash over its Verilog, so that what does not change the logic does not change the id.

The id stands in the descriptor, which is itself a part of the logic. So a design is generated with a place holder, over
which the hash is taken, and in whose place it is then put.
"""

import hashlib
import re

__all__ = ["UNIDENTIFIED", "identify"]

UNIDENTIFIED = "!#%&(*+,./:;<=>?"
"""Build id of a descriptor whose Verilog has not been generated yet, of characters that no name has."""


def identify(descriptor, verilog: str, *others: str | bytes) -> str:
    """Give the descriptor the build id of this design; return its Verilog with it.

    descriptor: `Descriptor` with the id `UNIDENTIFIED`, whose words the Verilog has in a table of constants. others:
    further files of the design. The id is the first 16 hexadecimal digits of a SHA-256.
    Raises ValueError if the Verilog has another descriptor.
    """
    digest = hashlib.sha256()
    for content in (verilog, *others):
        data = content.encode() if isinstance(content, str) else content
        digest.update(len(data).to_bytes(8, "little") + data)
    before = descriptor.to_words()
    descriptor.build_id = digest.hexdigest()[: len(UNIDENTIFIED)]
    for index, (old, new) in enumerate(zip(before, descriptor.to_words(), strict=True)):
        if old != new:
            entry = rf"('d{index}: begin\s+\w+ <= )\d+'d{old};"
            verilog, count = re.subn(entry, rf"\g<1>{new.bit_length()}'d{new};", verilog)
            if count != 1:
                raise ValueError("the Verilog does not have the words of this descriptor")
    return verilog
