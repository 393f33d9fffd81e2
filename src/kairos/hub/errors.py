"""Errors of hub calls."""

from ..errors import KairosError

__all__ = ["HubError", "ProgramError"]


class HubError(KairosError):
    """The hub could not do what it was asked. `code`: gRPC's name of the reason, such as NOT_FOUND."""

    def __init__(self, text: str, code: str):
        super().__init__(text)
        self.code = code


class ProgramError(HubError):
    """A program has ended before its end: `code` says how (TIMEOUT), `step` is the number of the
    step that failed, `results` has those of the steps before it."""

    def __init__(self, device: str, answer, code: str):
        super().__init__(f"{device}: {answer.error}; results so far: {list(answer.results)}", code)
        self.step, self.results = answer.failed_step, list(answer.results)
