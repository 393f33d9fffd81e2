"""Methods that a driver lacks: using one is reported at its place, before anything runs."""

import pytest

from kairos.compiler.tests.jit import Compiled, Experiment
from kairos.coredevice.parts.lacking import lacking
from kairos.errors import CompileError, NotInKairos
from kairos.language import kernel, kernel_from_string

from .traffic import devices


@lacking("the bits of its registers are not published", "init set")
class Card:
    """A driver of a card that is not fully documented."""


@pytest.mark.parametrize("method", ["init", "set"])
def test_missing_method_raises_not_in_kairos(method):
    with pytest.raises(NotInKairos, match=rf"Card\.{method} is not part of Kairos: .*published"):
        getattr(Card(), method)
    assert not hasattr(Card(), method)


@pytest.mark.parametrize("method", ["init", "set"])
@pytest.mark.parametrize("arguments", ["", "0", "0, now_mu()", "profile=3"])
def test_missing_method_gives_its_reason_for_any_arguments(method, arguments):
    body = f"self.device.{method}({arguments})"
    with pytest.raises(CompileError, match=rf"{method} is not part of Kairos: .*published") as refused:
        experiment = Experiment(device=Card())
        Compiled(kernel_from_string(["self"], body, decorator=kernel), (experiment,), devices({}).get("core"))
    assert "docs/experiments.md" in str(refused.value) and body in str(refused.value)
