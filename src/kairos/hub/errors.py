"""Errors of hub calls."""

from ..errors import KairosError

__all__ = ["HubError", "ProgramError"]


class HubError(KairosError):
    """The hub could not execute a request. `code`: gRPC's name of the reason, such as NOT_FOUND."""

    def __init__(self, text: str, code: str):
        super().__init__(text)
        self.code = code


class ProgramError(HubError):
    """A program was aborted: `code` gives the reason (TIMEOUT), `step` is the number of the step
    that failed, `results` has the results of the steps before it."""

    def __init__(self, device: str, answer, code: str):
        super().__init__(f"{device}: {answer.error}; results so far: {list(answer.results)}", code)
        self.step, self.results = answer.failed_step, list(answer.results)
