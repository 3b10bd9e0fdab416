"""Each user's income by month, with the user's loan id, in SQLite: the same as main.ts, with boto3."""

import json
import os
import sqlite3
import sys
import time
from pathlib import Path

import boto3
from income_events_subscriber import KEPT_DAYS, Reader, Remembered, monthly_income, read_document


class IncomeBook:
    """Also the reader's memory, in the same file."""

    def __init__(self, file):
        """:param file: is created where it is missing"""
        self._database = sqlite3.connect(file, isolation_level=None)
        self._database.row_factory = sqlite3.Row
        self._database.executescript(Path(__file__).with_name("schema.sql").read_text())
        for table in ("handled", "newest", "erased"):
            self._run(f"DELETE FROM {table} WHERE until <= :now", now=now())

    def recall(self, id, series):
        handled = self._kept("SELECT id FROM handled WHERE id = :key", id)
        newest = self._kept("SELECT sequence FROM newest WHERE series = :key", series or "")
        return Remembered(handled is not None, newest)

    def remember(self, id, series, sequence):
        if series is not None:
            self._run(
                """INSERT INTO newest VALUES (:series, :sequence, :until) ON CONFLICT DO UPDATE
                     SET sequence = excluded.sequence, until = excluded.until
                     WHERE excluded.sequence > sequence OR until <= :now""",
                series=series, sequence=sequence, until=kept_until(), now=now(),
            )
        self._run("INSERT OR REPLACE INTO handled VALUES (:id, :until)", id=id, until=kept_until())

    def handle(self, message):
        """Keeps what a message says. Returns the income, as it is now, of the users whom this can change."""
        has_document, document = read_income(message)
        self._run("BEGIN IMMEDIATE")
        try:
            users = [user for user in self._keep(message, has_document, document) if user is not None]
            for user in users:
                self._add_up(user)
            self._run("COMMIT")
        except BaseException:
            self._run("ROLLBACK")
            raise
        return [income for user in users for income in self.income_of(user)]

    def income_of(self, user):
        return self._run("SELECT * FROM income WHERE user = :user ORDER BY month, currency", user=user).fetchall()

    def _keep(self, message, has_document, document):
        data, sequence = message.data, message.sequence
        account, user = data.get("accountId"), data.get("userId")
        if message.type in ("user.erased", "account.erased"):
            return self._erase(account, user)
        if self._is_erased(f"account/{account}") or self._is_erased(f"user/{user}"):
            return set()
        before = self._user_of(account)
        if user is not None:
            self._run("INSERT OR IGNORE INTO users (user) VALUES (:user)", user=user)
        if account is not None:
            self._run(
                """INSERT INTO accounts (account, user) VALUES (:account, :user) ON CONFLICT DO UPDATE
                     SET user = excluded.user WHERE user IS NULL""",
                account=account, user=user,
            )
        # Present only in messages sent after the attributes were known.
        if user is not None and "attributesSequence" in data:
            self._run(
                """UPDATE users SET attributes_sequence = :attributes_sequence, loan_id = :loan_id
                     WHERE user = :user AND attributes_sequence < :attributes_sequence""",
                user=user,
                attributes_sequence=data["attributesSequence"],
                loan_id=data.get("attributes", {}).get("loanId"),
            )
        if "deleted" in data and account is not None:
            self._run(
                """UPDATE accounts SET sequence = :sequence, deleted = :deleted, user = COALESCE(:user, user)
                     WHERE account = :account AND sequence <= :sequence""",
                account=account, user=user, sequence=sequence, deleted=data["deleted"],
            )
        elif "deleted" in data and user is not None:
            self._run(
                "UPDATE users SET sequence = :sequence, deleted = :deleted WHERE user = :user AND sequence <= :sequence",
                user=user, sequence=sequence, deleted=data["deleted"],
            )
        if has_document and account is not None:
            self._run(
                """INSERT INTO documents VALUES (:subject, :account, :sequence, :document) ON CONFLICT DO UPDATE
                     SET sequence = excluded.sequence, document = excluded.document
                     WHERE excluded.sequence >= sequence""",
                subject=message.subject, account=account, sequence=sequence, document=document,
            )
        return {before, self._user_of(account), user}

    def _erase(self, account, user):
        column, id = ("account", account) if user is None else ("user", user)
        users = {user or self._user_of(account)}
        self._run("INSERT OR REPLACE INTO erased VALUES (:owner, :until)", owner=f"{column}/{id}", until=kept_until())
        accounts = f"SELECT account FROM accounts WHERE {column} = :id"
        self._run(f"DELETE FROM documents WHERE account IN ({accounts})", id=id)
        self._run(f"DELETE FROM accounts WHERE {column} = :id", id=id)
        self._run("DELETE FROM users WHERE user = :user", user=user)
        return users

    def _add_up(self, user):
        found = self._run(
            """SELECT document FROM documents JOIN accounts USING (account) JOIN users USING (user)
                 WHERE user = :user AND NOT accounts.deleted AND NOT users.deleted AND document IS NOT NULL""",
            user=user,
        )
        documents = [json.loads(document) for (document,) in found]
        self._run("DELETE FROM income WHERE user = :user", user=user)
        for income in monthly_income((document["href"], document["data"]) for document in documents):
            self._run(
                """INSERT INTO income VALUES (:user, :month, :currency, (SELECT loan_id FROM users WHERE user = :user),
                     :gross, :net, :payments, :documents)""",
                **{**vars(income), "user": user, "documents": json.dumps(income.documents, separators=(",", ":"))},
            )

    def _is_erased(self, owner):
        return self._kept("SELECT owner FROM erased WHERE owner = :key", owner) is not None

    def _user_of(self, account):
        row = self._run("SELECT user FROM accounts WHERE account = :account", account=account).fetchone()
        return row and row["user"]

    def _kept(self, sql, key):
        """A text that is kept for a time."""
        row = self._run(f"{sql} AND until > :now", key=key, now=now()).fetchone()
        return row and row[0]

    def _run(self, sql, **values):
        return self._database.execute(sql, values)


def read_income(message):
    """Whether the message brings an income document; its address and what the sums need of it, as JSON; None where the
    provider has none any more."""
    if message.type != "data.updated" or message.data["endpoint"] != "income":
        return False, None
    result = read_document(message)
    if result.outcome == "replaced":
        return False, None  # a newer version has a message of its own
    if result.outcome == "gone":
        return True, None
    fields = ("id", "paid_at", "currency", "gross", "net")
    data = [{field: payment[field] for field in fields} for payment in result.json()["data"]]
    return True, json.dumps({"href": message.data["document"]["href"], "data": data})


def now():
    return int(time.time() * 1000)


def kept_until():
    return now() + KEPT_DAYS * 86_400_000


def main():
    sqs, queue_url = boto3.client("sqs"), os.environ["SUBSCRIBER_QUEUE_URL"]
    book = IncomeBook(os.environ.get("INCOME_DATABASE", "income.sqlite"))

    def handle(message):
        for income in book.handle(message):
            loan_id = income["loan_id"] or "-"
            print(f"user/{income['user']}", loan_id, income["month"], income["net"], income["currency"], flush=True)

    read = Reader(handle, book)
    while True:
        received = sqs.receive_message(QueueUrl=queue_url, WaitTimeSeconds=20, MaxNumberOfMessages=10)
        for message in received.get("Messages", []):
            result = read(message["Body"])
            if result.settled:
                sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
            else:
                print(result.reason, file=sys.stderr, flush=True)  # SQS delivers the message again


if __name__ == "__main__":
    main()
