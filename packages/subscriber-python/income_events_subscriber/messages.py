"""Messages: CloudEvents 1.0 in JSON."""

import json
import re
from dataclasses import dataclass
from typing import Any, Mapping, Optional

#: The types that this release knows, and which messages of a type replace each other: the newest counts.
NEWEST_OF: Mapping[str, str] = {
    **{
        f"{kind}.{change}": "subject"
        for kind in ("user", "account", "company-account")
        for change in ("created", "updated", "deleted", "confirmed", "erased")
    },
    **{
        f"{kind}.{change}": "subject"
        for kind in ("account", "company-account")
        for change in ("connected", "disconnected")
    },
    "account.restored": "subject",
    "account.ready": "subject",
    "account.incomplete": "subject",
    "user.ready": "subject",
    "account.stale": "subject and type",
    "endpoint.updated": "subject and type",
    "data.updated": "subject and type",
    "subscriber.test": "subject",
}


class Unreadable(ValueError):
    """The text is no message of the contract. The reason names a field and quotes nothing."""


@dataclass(frozen=True)
class Message:
    type: str
    id: str
    source: str
    subject: str
    #: Of two messages of one subject the higher one, compared as text, is the newer.
    sequence: str
    time: str
    data: Mapping[str, Any]
    replayid: Optional[str]
    correlationid: Optional[str]
    #: The whole text: an inline document is read from it, digit by digit.
    text: str

    @property
    def is_known(self) -> bool:
        """Whether this release knows the type: later releases add types."""
        return self.type in NEWEST_OF


_NONEMPTY = re.compile(r".+", re.DOTALL)
_ATTRIBUTES = {
    "specversion": re.compile(r"1\.0"),
    "id": _NONEMPTY,
    "source": re.compile(r"/income-events/.+", re.DOTALL),
    "type": _NONEMPTY,
    "subject": _NONEMPTY,
    "time": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"),
    "datacontenttype": re.compile(r"application/json"),
    "sequence": re.compile(r"[0-9]{20}"),
}


def read_message(text: str) -> Message:
    """Reads the body of a message of the queue.

    :raises Unreadable: for a text that breaks the contract
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise Unreadable("the message is no JSON object")
    for name, pattern in _ATTRIBUTES.items():
        value = fields.get(name)
        if not isinstance(value, str) or pattern.fullmatch(value) is None:
            raise Unreadable(f"{name}: is missing, or not as the contract has it")
    for name in ("replayid", "correlationid"):
        if name in fields and not (isinstance(fields[name], str) and fields[name]):
            raise Unreadable(f"{name}: expected a text")
    data = fields.get("data")
    if not isinstance(data, dict):
        if fields["type"] in NEWEST_OF:
            raise Unreadable("data: expected an object")
        data = {}
    return Message(
        type=fields["type"],
        id=fields["id"],
        source=fields["source"],
        subject=fields["subject"],
        sequence=fields["sequence"],
        time=fields["time"],
        data=data,
        replayid=fields.get("replayid"),
        correlationid=fields.get("correlationid"),
        text=text,
    )
