"""The project's figures, each measured with its baseline: `make bench` writes them to
build/bench.json."""
