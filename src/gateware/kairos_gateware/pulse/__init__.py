"""The pulse core: from words of a stream to the samples of two-tone channels
(`docs/gateware/pulse.md`)."""
