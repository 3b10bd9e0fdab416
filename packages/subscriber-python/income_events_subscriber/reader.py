"""Each message once in effect, the newest last, and nothing about an erased owner."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Callable, Optional, Protocol

from .messages import NEWEST_OF, Message, Unreadable, read_message

#: Days in which a message can be delivered again. With another `retention.archiveDays` than 90, use that plus 57.
KEPT_DAYS = 147

#: The sequence of an erasure: higher than any other of the owner, and of each subject below it.
_ERASURE = "9" * 20


@dataclass(frozen=True)
class Remembered:
    """What is remembered of a message that comes."""

    is_handled: bool
    #: The highest sequence that was handled of its series.
    newest: Optional[str] = None


class Memory(Protocol):
    """What a subscriber remembers. Whatever it raises, the message stays on the queue.

    `remember` keeps the higher sequence where another process was faster, and writes the sequence before the id. Forget
    both after `KEPT_DAYS`: whoever was erased may be announced again, with sequences from the beginning.
    """

    def recall(self, id: str, series: Optional[str]) -> Remembered: ...

    def remember(self, id: str, series: Optional[str], sequence: str) -> None: ...


class InMemory:
    """A memory that ends with the process."""

    def __init__(self, most: int = 100_000, days: float = KEPT_DAYS, now: Callable[[], float] = time.time):
        self._most, self._seconds, self._now = most, days * 86_400, now
        self._ids: OrderedDict = OrderedDict()
        self._sequences: OrderedDict = OrderedDict()

    def recall(self, id: str, series: Optional[str]) -> Remembered:
        return Remembered(self._find(self._ids, id) is not None, self._find(self._sequences, series))

    def remember(self, id: str, series: Optional[str], sequence: str) -> None:
        if series is not None and sequence > (self._find(self._sequences, series) or ""):
            self._keep(self._sequences, series, sequence)
        self._keep(self._ids, id, id)

    def _find(self, kept: OrderedDict, key: Optional[str]) -> Optional[str]:
        value, until = kept.get(key, (None, 0))
        return value if until > self._now() else None

    def _keep(self, kept: OrderedDict, key: str, value: str) -> None:
        kept.pop(key, None)
        kept[key] = (value, self._now() + self._seconds)
        while len(kept) > self._most:
            kept.popitem(last=False)


@dataclass(frozen=True)
class Result:
    """What became of a message. Delete it from the queue where it is settled, else leave it there.

    `outcome`: handled, duplicate, stale, skipped, erased; of what is not settled unreadable or failed. SQS moves these to
    the dead-letter queue after some deliveries.
    """

    settled: bool
    outcome: str
    reason: Optional[str] = None
    error: Optional[Exception] = None


Handle = Callable[[Message], object]


@dataclass
class Reader:
    """Call it with the body of each message; it never raises. Use one reader in one thread.

    At least once stays at least once: a process that dies after `handle` and before `remember` handles the message again.
    Between processes a write of yours decides, which takes the higher `sequence`.
    """

    handle: Handle
    memory: Memory
    #: Called with what is older than what was handled; None: it is dropped.
    handle_stale: Optional[Handle] = None
    #: Called with types that this release does not know; None: they are dropped.
    handle_unknown: Optional[Handle] = None
    #: Whether a replay brings what was handled before once more.
    repeat_replays: bool = False

    def __call__(self, body: str) -> Result:
        try:
            message = read_message(body)
        except Unreadable as error:
            return Result(False, "unreadable", str(error))
        try:
            return Result(True, self._settle(message))
        except Exception as error:
            return Result(False, "failed", str(error) or "failed", error)

    def _settle(self, message: Message) -> str:
        source, sequence = message.source, message.sequence
        # An id is unique within its source.
        repeated = [message.replayid] if self.repeat_replays and message.replayid else []
        id = " ".join([source, message.id, *repeated])
        owner = f"{source} {'/'.join(message.subject.split('/')[:2])}"
        series = _series_of(message)
        remembered = self.memory.recall(id, series)
        if remembered.is_handled:
            return "duplicate"
        newest = remembered.newest
        newest_of_owner = newest if series == owner else self.memory.recall(id, owner).newest
        if newest_of_owner == _ERASURE and sequence < _ERASURE:
            return "erased"
        is_stale = newest is not None and sequence < newest
        handle = self.handle_stale if is_stale else self.handle if message.is_known else self.handle_unknown
        if handle is not None:
            handle(message)
            self.memory.remember(id, series, sequence)
        return "stale" if is_stale else "skipped" if handle is None else "handled"


def _series_of(message: Message) -> Optional[str]:
    """Messages of one series replace each other; those of an unknown type are in none."""
    if not message.is_known:
        return None
    series = f"{message.source} {message.subject}"
    return series if NEWEST_OF[message.type] == "subject" else f"{series} {message.type}"
