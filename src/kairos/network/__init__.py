"""Services of a core device over TCP: connecting, and the management service.

The kernel session, the larger part, is :mod:`kairos.session`; the loader's service is in
:mod:`kairos.boot`.
"""
