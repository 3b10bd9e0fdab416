"""The document that a message names."""

import base64
import codecs
import functools
import gzip
import hashlib
import json
import os
import random
import re
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Callable, Optional, Tuple
from urllib.parse import urlsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError
from botocore.httpsession import URLLib3Session

from .messages import Message

_FIRST_WAIT_SECONDS = 0.1
_http = URLLib3Session(timeout=30)


class DocumentError(Exception):
    """The stage did not answer with the document. Leave the message in the queue."""


class _Busy(Exception):
    """There was no answer: asking again may help."""

    def __init__(self, problem: str, retry_after: float = 0.0):
        super().__init__(problem)
        self.retry_after = retry_after


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

    It takes an inline document from the message, and all others from the stage, signed with Signature Version 4: at its
    URL, or by invoking the function that the address names. It asks a busy stage again after the time that the stage names.

    :param session: None: boto3's default session
    :raises DocumentError: where the stage refuses the caller, stays busy, or answers with other bytes; where only messages
        hold documents, and this one does not
    """
    document = message.data.get("document")
    if document is None:
        return DocumentResult("gone")
    href, sha256, content_type = document["href"], document["sha256"], document["contentType"]
    inline = _inline_content(message)
    if _digest(inline) == sha256:
        return DocumentResult("document", inline, content_type)
    if href.startswith("urn:"):
        raise DocumentError("the stage's documents are read from messages alone")
    status, content = _ask_until_answered(href, session or _default_session(), tries, wait)
    if status == 404:
        return DocumentResult("replaced" if _is_replaced(content) else "gone")
    if status != 200:
        raise DocumentError(f"the document was answered {status}")
    if _digest(content) != sha256:
        raise DocumentError("the document's bytes are not those that the message names")
    return DocumentResult("document", content, content_type)


def _default_session() -> boto3.Session:
    if boto3.DEFAULT_SESSION is None:
        boto3.setup_default_session()
    return boto3.DEFAULT_SESSION


def _inline_content(message: Message) -> bytes:
    """The pipeline writes the content last, so that it can be cut out of the text. The digest says whether this was right."""
    found = re.search(r'"content":(.*)\}\s*\}\s*\}\s*\Z', message.text, re.DOTALL)
    return found[1].encode() if found else b""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _ask_until_answered(
    href: str, session: boto3.Session, tries: int, wait: Callable[[float], object]
) -> Tuple[int, bytes]:
    ask = _invoke if href.startswith("arn:") else _get
    done = 1
    while True:
        try:
            return ask(href, session)
        except _Busy as busy:
            if done >= tries:
                raise DocumentError(f"{busy}, {done} times") from busy.__cause__
            # With jitter, so that callers don't all come back at once.
            wait(max(_FIRST_WAIT_SECONDS * 2 ** (done - 1) * (1 + random.random()), busy.retry_after))
            done += 1


def _get(href: str, session: boto3.Session) -> Tuple[int, bytes]:
    request = _signed(href, session)
    try:
        answer = _http.send(request)
        content = answer.content
    except HTTPClientError as error:
        raise _Busy("the document could not be read") from error
    if _is_busy(answer.status_code):
        raise _Busy(f"the document was answered {answer.status_code}", _seconds(answer.headers.get("retry-after")))
    return answer.status_code, content


def _invoke(href: str, session: boto3.Session) -> Tuple[int, bytes]:
    """Invokes the function of `arn:…:function:NAME:ALIAS/v1/…`, which returns the answer in JSON."""
    arn, slash, path = href.partition("/")
    payload = json.dumps({"path": slash + path, "acceptEncoding": "gzip"})
    try:
        answer = _lambda(session, arn.split(":")[3]).invoke(FunctionName=arn, Payload=payload)
        content = answer["Payload"].read()
    except ClientError as error:
        metadata = error.response["ResponseMetadata"]
        status = metadata["HTTPStatusCode"]
        if _is_busy(status):
            retry_after = _seconds(metadata["HTTPHeaders"].get("retry-after"))
            raise _Busy(f"the document was answered {status}", retry_after) from error
        # Lambda's own 404 does not mean that the document is missing.
        raise DocumentError(f"Lambda answered {status} to an invocation of {arn}") from error
    except HTTPClientError as error:
        raise _Busy("the document could not be read") from error
    if "FunctionError" in answer:
        raise _Busy("the function that reads the document failed")
    found = json.loads(content)
    body = base64.b64decode(found["body"])
    is_compressed = found["headers"].get("content-encoding") == "gzip"
    return found["status"], gzip.decompress(body) if is_compressed else body


@functools.lru_cache(maxsize=8)
def _lambda(session: boto3.Session, region: str):
    # The caller retries.
    return session.client("lambda", region_name=region, config=Config(retries={"total_max_attempts": 1}))


def _is_busy(status: int) -> bool:
    return status == 429 or status >= 500


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
