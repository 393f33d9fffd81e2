"""The project's figures, each measured beside its baseline: `make bench` writes them to build/bench.json."""
