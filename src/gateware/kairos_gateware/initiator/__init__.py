"""Initiators: blocks that submit commands to the RTIO core on behalf of the processing system."""
