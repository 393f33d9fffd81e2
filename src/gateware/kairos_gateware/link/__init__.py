"""The link between boards: words with error correction, vectors packed into words, and streams that
share them.

The format is documented bit by bit in docs/gateware/link.md.
"""
