"""`kairos selftest`: tests of the cards of a device database, with limits and a report.

Each kind of card has a test (:mod:`.cards`) whose kernels (:mod:`.kernels`) initialise the card, read back what
it can tell, and use its outputs and inputs. What happens at the connectors is told by the bench of an emulated
device, or by a person with instruments (:mod:`.observers`). Results are collected and written as a page
(:mod:`.report`).
"""
