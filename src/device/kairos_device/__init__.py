"""Files only: ``firmware/`` has the images, ``gateware/VARIANT/`` the libraries that the emulator loads.

They lie as in ``build/`` of a checkout; :mod:`kairos.emulator.artifacts` finds them.
"""
