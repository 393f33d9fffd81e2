"""Completion of ``lab["zc706"].registers.rtio.`` in notebooks and IPython's shell.

Those ask an object for its names without running anything else first, unless they are told that it
does no harm. To look for a device, its registers or pins asks the hub, and changes nothing.
"""

import sys

__all__ = ["complete"]


def complete(items: set[type], attributes: set[type]):
    """Tell IPython, if this runs in it, that completions may ask for items and attributes of these classes."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    try:
        # Where it is not there nothing can be told.
        from IPython.core.guarded_eval import EVALUATION_POLICIES

        policy = EVALUATION_POLICIES[shell.Completer.evaluation]
        told = {"allowed_getitem": items, "allowed_getattr": attributes}
        overrides = {key: classes | getattr(policy, key) for key, classes in told.items()}
        shell.Completer.policy_overrides = overrides | shell.Completer.policy_overrides
    except (ImportError, AttributeError, KeyError):
        # Another version of IPython, or a policy that asks nobody: names complete where they are
        # asked for one by one.
        return
