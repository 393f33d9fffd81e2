"""The link between boards, in layers: each package imports only those above it.

`line`: words with error correction, vectors packed into words, streams that share them, line
coding. `rtio`: events and time. `remote`: loads and stores in another board's memory. `bulk`:
copies to it. `switch`: packets through several boards.

The format is documented bit by bit in docs/gateware/link.md.
"""
