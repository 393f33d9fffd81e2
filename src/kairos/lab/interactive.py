"""Arguments that runs ask for while they run, and the answers of users."""

import asyncio

from ..controllers.publishing import Publication

__all__ = ["InteractiveArguments"]


class InteractiveArguments:
    """The runs that wait for arguments."""

    def __init__(self):
        self._asked: dict[int, dict] = {}
        self._answers: dict[int, asyncio.Future] = {}
        self.publication = Publication(lambda: self._asked)

    async def request(self, rid: int, title: str, described: list) -> dict | None:
        """Ask for the arguments `described`, (key, description, group, tooltip); returns the values
        by key, or None if the request was cancelled."""
        answer = self._answers[rid] = asyncio.get_running_loop().create_future()
        self._asked[rid] = entry = {"title": title, "arglist_desc": [tuple(each) for each in described]}
        self.publication.changed([{"action": "setitem", "path": [], "key": rid, "value": entry}])
        try:
            return await answer
        finally:
            if self._answers.get(rid) is answer:
                del self._answers[rid], self._asked[rid]
                self.publication.changed([{"action": "delitem", "path": [], "key": rid}])

    def asked(self, rid: int) -> dict | None:
        """Return what a run asks for: `title`, `arglist_desc`; None if it asks for nothing."""
        return self._asked.get(rid)

    def ended(self, rid: int):
        """Forget a run."""
        if rid in self._answers:
            self._answers[rid].cancel()

    def _waiting(self, rid) -> asyncio.Future:
        if rid not in self._answers or self._answers[rid].done():
            raise ValueError(f"run {rid} does not wait for arguments")
        return self._answers[rid]

    def supply(self, rid, values):
        """Answer a run; ValueError if it does not wait, or for other keys than it asks for."""
        answer = self._waiting(rid)
        wanted = {key for key, *_ in self._asked[rid]["arglist_desc"]}
        if set(values) != wanted:
            raise ValueError(f"run {rid} asks for {', '.join(sorted(wanted))}")
        answer.set_result(values)

    def cancel(self, rid):
        """Refuse to answer a run; ValueError if it does not wait."""
        self._waiting(rid).set_result(None)
