"""Completion of ``lab["zc706"].registers.rtio.`` in notebooks and IPython's shell.

IPython evaluates item and attribute access for completions only for classes declared as harmless.
Looking up a device, its registers or pins queries the hub, and changes nothing.
"""

import sys

__all__ = ["complete"]


def complete(items: set[type], attributes: set[type]):
    """Allow IPython, if it is running, to access items and attributes of these classes for
    completions."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    try:
        # May be missing, in which case nothing can be configured.
        from IPython.core.guarded_eval import EVALUATION_POLICIES

        policy = EVALUATION_POLICIES[shell.Completer.evaluation]
        allowed = {"allowed_getitem": items, "allowed_getattr": attributes}
        overrides = {key: classes | getattr(policy, key) for key, classes in allowed.items()}
        shell.Completer.policy_overrides = overrides | shell.Completer.policy_overrides
    except (ImportError, AttributeError, KeyError):
        # Another version of IPython, or a policy without evaluation: names are still completed in
        # single steps.
        return
