"""Words with error correction, packing, credits, retransmission and line coding; mailboxes and the AXI bridge."""
