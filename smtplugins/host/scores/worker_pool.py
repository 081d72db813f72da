"""Programs that score texts in batches, by the protocol that BATCHES.md describes.

A program reads a batch as one line of JSON and answers its items by their keys, in any order, in one line or several:

    {"batch": 0, "items": [{"key": "0", "hyp": "a house", ...}, {"key": "1", "hyp": "houses", ...}]}
    {"scores": {"1": -2.5, "0": -1.25}}

Several of them run at once. One that dies is started again and asked what it has not answered.
"""

from __future__ import annotations

import collections
import contextlib
import os
import select
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.host.scores.scoring_program import Answered, Frame, Row, ScoringProgram, split_command, unanswered

_LONGEST = 1_000_000
_DEPTH = 4
"""Batches that a program is sent before it has answered the first, so that it need not wait for the next one."""
_PATIENCE = 30.0
"""Seconds of silence after which a program that was sent all there is may be waiting for more."""
_PROMPT = 1.0
"""Seconds: one that answers so soon after the end of its input has waited for it."""


class WorkerPool:
    """``workers`` processes of a command that speaks the batch protocol, started when they are needed.

    ``who`` names the user of the command in messages. ``batch`` is the number of items in a batch, ``timeout`` the
    longest silence of a program that has something to answer, in seconds. ``retries`` is how often a batch is asked
    again because a program died of it. An answer is a number, or a list of ``width`` numbers. ``note`` is told that a
    program was started again.
    """

    def __init__(
        self,
        who: str,
        command: str | Sequence[str],
        *,
        workers: int = 1,
        batch: int = 64,
        timeout: float = 300.0,
        retries: int = 2,
        width: int = 1,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.arguments = split_command(who, command)
        for name, value, least in (("workers", workers, 1), ("batch", batch, 1), ("retries", retries, 0)):
            if not least <= value <= _LONGEST:
                raise UsageError(f"{who}: {name}: expected {least} to {_LONGEST}, found {value}")
        if not 0 < timeout <= _LONGEST:
            raise UsageError(f"{who}: timeout: expected seconds, above 0 to {_LONGEST}, found {timeout}")
        self._who, self._note = who, note
        self._count, self._batch, self._retries, self._width = workers, batch, retries, width
        self._timeout = timeout
        # Started on first use: workers of a runner are forked after features are made, and must not share programs.
        self._workers: list[ScoringProgram] = []
        self._queue: collections.deque[Frame] = collections.deque()
        self._owner = self._batches = self._keys = 0
        self._slowest = 0.0
        self._last = self._collects = False

    def ask(self, items: Sequence[Mapping[str, Any]], *, last: bool = False) -> Iterator[tuple[int, Row]]:
        """Send items, the longest first; the iterator yields the position and answer of each, as they come.

        Items are sent at once, also while earlier ones are still being answered. ``last``: nothing more will be asked,
        so the programs' input ends after these.
        """
        self._disown()
        self._owner, self._last = os.getpid(), last
        answered: Answered = collections.deque()
        order = sorted(range(len(items)), key=lambda i: -_length(items[i]))
        for i in range(0, len(order), self._batch):
            part = order[i : i + self._batch]
            asked = {str(self._keys + k): (items[part[k]], answered, part[k]) for k in range(len(part))}
            self._keys += len(part)
            self._queue.append(Frame(self._batches, asked))
            self._batches += 1
        with self._killing():
            self._step(0.0)
        return self._answers(answered, len(items))

    def close(self) -> None:
        """End the programs; raises FeatureError if one has printed extra answers or exits with an error."""
        self._disown()
        if self._queue or any(worker.frames for worker in self._workers):
            # The caller gave up before it had all answers.
            self.abandon()
        with self._killing():
            for worker in self._workers:
                worker.end_input()
            while self._workers:
                self._workers.pop().finish()

    def abandon(self) -> None:
        """Kill the programs and forget what they were asked."""
        self._disown()
        self._queue.clear()
        while self._workers:
            self._workers.pop().kill()

    def _answers(self, answered: Answered, count: int) -> Iterator[tuple[int, Row]]:
        for _ in range(count):
            while not answered:
                with self._killing():
                    self._step(1.0)
            yield answered.popleft()

    @contextlib.contextmanager
    def _killing(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.abandon()
            raise

    def _disown(self) -> None:
        """Forget programs that another process started, in workers forked after first use."""
        if self._workers and self._owner != os.getpid():
            for worker in self._workers:
                worker.disown()
            self._workers.clear()
            self._queue.clear()

    def _step(self, seconds: float) -> None:
        """Send what the programs can take, wait for one of them, take what it answers, and send again."""
        self._dispatch()
        by_handle, poll = {}, select.poll()
        for worker in self._workers:
            by_handle[worker.output] = worker
            poll.register(worker.output, select.POLLIN)
            if worker.writing:
                by_handle[worker.input] = worker
                poll.register(worker.input, select.POLLOUT)
        patience = self._timeout if self._queue else min(self._timeout, self._patience())
        left = [patience - worker.silence() for worker in self._workers if worker.frames and not worker.ending]
        for handle, _ in poll.poll(1000 * max(0.0, min([seconds, *left]))):
            worker = by_handle[handle]
            if handle != worker.output:
                worker.write()
                continue
            self._learn(worker)
            if not worker.read():
                self._bury(worker)
        self._dispatch()
        for worker in self._workers:
            self._watch(worker)

    def _dispatch(self) -> None:
        """Send waiting batches, each to the program that has the fewest."""
        while self._queue:
            ready = [worker for worker in self._workers if not worker.ending]
            worker = min(ready, key=lambda one: len(one.frames), default=None)
            if worker is None or (worker.frames and len(ready) < self._count):
                worker = ScoringProgram(self.arguments, self._width)
                self._workers.append(worker)
            if len(worker.frames) >= _DEPTH:
                return
            worker.send(self._queue.popleft())

    def _bury(self, worker: ScoringProgram) -> None:
        """Remove a program that has ended; what it has not answered is asked again."""
        self._workers.remove(worker)
        frames = list(worker.frames.values())
        if not frames:
            # If there is more to ask, another is started.
            worker.finish()
            return
        how = worker.death()
        worker.kill()
        if worker.left_out():
            raise worker.error(f"expected a score for each key, found none for {unanswered(frames)}")
        frames[0].deaths += 1
        if frames[0].deaths > self._retries:
            times = f" {frames[0].deaths} times" if self._retries else ""
            raise worker.error(f"{how}{times} at the batch that begins with {frames[0].shown()}")
        count = sum(len(frame.items) for frame in frames)
        self._note(f"{self._who}: command {self.arguments[0]!r} {how}; it is started again for {count} texts")
        self._queue.extendleft(reversed(frames))

    def _watch(self, worker: ScoringProgram) -> None:
        """End the input of a program that need not wait for more; a program that is silent for too long is an error."""
        silence = worker.silence()
        if silence > self._timeout:
            missing = unanswered(worker.frames.values())
            raise worker.error(
                f"expected an answer within {self._timeout:g} s, found none for {missing}; it must flush each answer"
            )
        if not self._queue and (self._last or silence > self._patience()):
            worker.end_input()

    def _learn(self, worker: ScoringProgram) -> None:
        """Learn how long answers take, and whether the program collects batches until its input ends."""
        if worker.frames and not self._last:
            if worker.ending:
                self._collects = worker.since_end() < _PROMPT
            if not self._collects:
                self._slowest = max(self._slowest, worker.silence())

    def _patience(self) -> float:
        """Seconds of silence after which a program seems to wait for more."""
        return _PROMPT if self._collects else max(_PATIENCE, 3 * self._slowest)


def _length(item: Mapping[str, Any]) -> int:
    """The length of the texts of an item."""
    return sum(len(text) if isinstance(text, str) else sum(map(len, text or ())) for text in item.values())
