"""The link between boards: words with error correction, vectors packed into them, streams that share them.

Documented in docs/gateware/link.md, to the bit.
"""
