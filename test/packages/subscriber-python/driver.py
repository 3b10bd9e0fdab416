"""Answers the questions of tests, a line of JSON each: a command with its argument."""

import base64
import json
import sys

from income_events_subscriber import DocumentError, InMemory, Reader, monthly_income, read_document, read_message
from income_events_subscriber.messages import NEWEST_OF
from monthly_income import IncomeBook


def outcomes(bodies):
    """What a reader does with each body: the id that it hands over, and the outcome."""
    handed = []
    keep = lambda message: handed.append(message.id)
    read = Reader(keep, InMemory())
    results = [read(body) for body in bodies]
    return [handed, [[result.settled, result.outcome] for result in results]]


def income(documents):
    try:
        return [vars(month) for month in monthly_income((each["href"], each["data"]) for each in documents)]
    except ValueError as error:
        return str(error)


def book(bodies):
    kept = IncomeBook(":memory:")
    read = Reader(kept.handle, kept)
    failed = [result.reason for result in map(read, bodies) if not result.settled]
    fields = {"user": "user", "loanId": "loan_id", **{name: name for name in ("month", "currency", "gross", "net")}}
    incomes = [income for user in ("ada", "grace") for income in kept.income_of(user)]
    return failed or [{name: income[column] for name, column in fields.items()} for income in incomes]


def document(body):
    """The outcome, with the content, or why there is none; and how often the reader waited at least three seconds."""
    waits = []
    try:
        result = read_document(read_message(body), tries=3, wait=waits.append)
        found = [result.outcome, base64.b64encode(result.content).decode()]
    except DocumentError as error:
        found = ["failed", str(error)]
    return [*found, [seconds >= 3 for seconds in waits]]


def texts(bodies):
    """The documents of messages as JSON, each digit as a text."""
    return [json.dumps(read_document(read_message(body)).json(), default=str) for body in bodies]


commands = {"document": document, "texts": texts, "outcomes": outcomes, "income": income, "book": book, "types": lambda _: dict(NEWEST_OF)}
for line in sys.stdin:
    command, argument = json.loads(line)
    print(json.dumps(commands[command](argument)))
