"""The document that a message names."""

import codecs
import hashlib
import json
import os
import random
import re
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Callable, Optional
from urllib.parse import urlsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import HTTPClientError
from botocore.httpsession import URLLib3Session

from .messages import Message

_FIRST_WAIT_SECONDS = 0.1


class DocumentError(Exception):
    """The stage did not answer with the document: let the message come again."""


@dataclass(frozen=True)
class DocumentResult:
    """What became of a read.

    `outcome`: document; replaced, where a newer version has a message of its own; or gone, where the person was erased or
    the provider has no data any more.
    """

    outcome: str
    #: As the provider gave them; they have the digest that the message names.
    content: bytes = b""
    content_type: str = ""

    def json(self) -> Any:
        """The document by its charset. Numbers with a fraction are `Decimal`: no digit is lost."""
        return json.loads(self.content.decode(self._encoding()), parse_float=Decimal)

    def _encoding(self) -> str:
        found = re.search(r';\s*charset\s*=\s*"?([^";\s]+)', self.content_type, re.IGNORECASE)
        charset = found[1] if found else "utf-8"
        if self.content.startswith(codecs.BOM_UTF8):
            return "utf-8-sig"
        if self.content.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)):
            return "utf-16"
        if charset.lower() == "utf-16":
            return "utf-16-be" if self.content.startswith(b"\0") else "utf-16-le"
        return charset


def read_document(
    message: Message,
    session: Optional[boto3.Session] = None,
    tries: int = 5,
    wait: Callable[[float], object] = time.sleep,
) -> DocumentResult:
    """Reads the version of the document that a message of the type `data.updated` names, and checks its digest.

    It takes an inline document from the message, and all others from the stage, signed with Signature Version 4. It asks
    a busy stage again after the time that the stage names.

    :raises DocumentError: where the stage refuses the caller, stays busy, or answers with other bytes
    """
    document = message.data.get("document")
    if document is None:
        return DocumentResult("gone")
    inline = _inline_content(message)
    if _digest(inline) == document["sha256"]:
        return DocumentResult("document", inline, document["contentType"])
    answer = _ask_until_answered(document["href"], session or boto3.Session(), tries, wait)
    if answer.status_code == 404:
        return DocumentResult("replaced" if _is_replaced(answer.content) else "gone")
    if answer.status_code != 200:
        raise DocumentError(f"the document was answered {answer.status_code}")
    if _digest(answer.content) != document["sha256"]:
        raise DocumentError("the document's bytes are not those that the message names")
    return DocumentResult("document", answer.content, document["contentType"])


def _inline_content(message: Message) -> bytes:
    """The pipeline writes the content last, so that it can be cut out of the text. The digest says whether this was right."""
    found = re.search(r'"content":(.*)\}\s*\}\s*\}\s*\Z', message.text, re.DOTALL)
    return found[1].encode() if found else b""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _ask_until_answered(href: str, session: boto3.Session, tries: int, wait: Callable[[float], object]):
    http = URLLib3Session(timeout=30)
    try:
        for done in range(1, tries + 1):
            retry_after, cause = 0.0, None
            try:
                answer = http.send(_signed(href, session))
                if answer.status_code != 429 and answer.status_code < 500:
                    return answer
                problem = f"the document was answered {answer.status_code}"
                retry_after = _seconds(answer.headers.get("retry-after"))
            except HTTPClientError as error:
                problem, cause = "the document could not be read", error
            if done == tries:
                raise DocumentError(f"{problem}, {done} times") from cause
            # With jitter, so that callers don't all come back at once.
            wait(max(_FIRST_WAIT_SECONDS * 2 ** (done - 1) * (1 + random.random()), retry_after))
    finally:
        http.close()


def _signed(href: str, session: boto3.Session):
    credentials = session.get_credentials()
    if credentials is None:
        raise DocumentError("no credentials: see boto3's guide, Credentials")
    request = AWSRequest("GET", href)
    SigV4Auth(credentials.get_frozen_credentials(), "lambda", _region(href, session)).add_auth(request)
    return request.prepare()


def _region(href: str, session: boto3.Session) -> str:
    """The address of a function in AWS names its region. boto3 itself does not read `AWS_REGION`."""
    found = re.fullmatch(r".+\.lambda-url\.([a-z0-9-]+)\.on\.aws", urlsplit(href).hostname or "")
    region = found[1] if found else session.region_name or os.environ.get("AWS_REGION")
    if not region:
        raise DocumentError("no region: set AWS_DEFAULT_REGION")
    return region


def _seconds(value: Optional[str]) -> float:
    return float(value) if value is not None and re.fullmatch(r"[0-9]+", value) else 0.0


def _is_replaced(problem: bytes) -> bool:
    try:
        return json.loads(problem).get("type") == "urn:income-events:problem:version-not-kept"
    except (ValueError, AttributeError):
        return False
