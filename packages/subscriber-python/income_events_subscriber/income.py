"""Income by month."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Tuple
from urllib.parse import parse_qs

Payment = Mapping[str, Any]


@dataclass(frozen=True)
class MonthlyIncome:
    """What was paid in one month in one currency."""

    #: In UTC, such as `2026-11`.
    month: str
    currency: str
    #: Decimals as texts: every digit is kept.
    gross: str
    net: str
    #: How many payments these are.
    payments: int
    #: The `href` of each document that a payment was taken from.
    documents: Sequence[str]


def monthly_income(documents: Iterable[Tuple[str, Sequence[Payment]]]) -> List[MonthlyIncome]:
    """Adds up income by the month of payment and by currency, in ascending order.

    Each payment of an account counts once, by its id, as the newest document has it: documents may come twice, in any
    order, in several versions, and with ranges that overlap. Of several versions of a document only the newest counts.

    :param documents: the `href` of each document's version, with the list `data` of the document
    :raises ValueError: naming the payment whose time, currency or amount can't be read, or the document with a payment
        without an id
    """
    months: Dict[Tuple[str, str], List[Tuple[Payment, str]]] = {}
    for payment, href in _newest_payments(_newest_versions(documents)):
        months.setdefault((_month(payment), _currency(payment)), []).append((payment, href))
    return [
        MonthlyIncome(
            month=month,
            currency=currency,
            gross=_sum(counted, "gross"),
            net=_sum(counted, "net"),
            payments=len(counted),
            documents=sorted({href for _, href in counted}),
        )
        for (month, currency), counted in sorted(months.items(), key=lambda entry: entry[0])
    ]


def _newest_versions(documents: Iterable[Tuple[str, Sequence[Payment]]]):
    """The newest version of each document, the oldest of these first."""
    newest: Dict[str, Tuple[int, str, str, Sequence[Payment]]] = {}
    for href, payments in documents:
        # The same whether a stage is read by its URL or by invoking a function.
        path, _, query = href[max(href.find("/v1/"), 0) :].partition("?")
        version = int(parse_qs(query).get("version", ["0"])[0])
        if path not in newest or version > newest[path][0]:
            newest[path] = (version, path, href, payments)
    return sorted(newest.values(), key=lambda entry: entry[:2])


def _newest_payments(versions):
    payments: Dict[Tuple[str, str], Tuple[Payment, str]] = {}
    for _, path, href, data in versions:
        account = path.split("/documents/")[0]
        for payment in data:
            if not _is_text(payment.get("id")):
                raise ValueError(f"a payment in {path}: id can't be read")
            payments[(account, payment["id"])] = (payment, href)
    return payments.values()


_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,][0-9]+)?"
    r" ?(?:Z|UTC|GMT|([+-])([0-9]{2}):?([0-9]{2})?)?",
    re.IGNORECASE,
)


def _month(payment: Payment) -> str:
    """The month in UTC: a time without a zone is in UTC."""
    try:
        day, hour, sign, hours, minutes = _TIME.fullmatch(payment["paid_at"]).groups()
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        if int(hours or 0) > 23 or int(minutes or 0) > 59:
            raise ValueError("offset")
        time = datetime.strptime(f"{day}T{hour}", "%Y-%m-%dT%H:%M:%S")
        time = time + offset if sign == "-" else time - offset
        return f"{time.year:04}-{time.month:02}"
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        raise ValueError(f"payment {payment.get('id')}: paid_at can't be read") from None


def _currency(payment: Payment) -> str:
    if not _is_text(payment.get("currency")):
        raise ValueError(f"payment {payment['id']}: currency can't be read")
    return payment["currency"]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


_DECIMAL = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")


def _sum(counted: Sequence[Tuple[Payment, str]], field: str) -> str:
    """The exact sum of decimals, with as many decimal places as the longest has."""
    amounts = [_parts(payment, field) for payment, _ in counted]
    places = max(len(fraction) for _, _, fraction in amounts)
    total = sum(int(f"{sign}{whole}{fraction.ljust(places, '0')}") for sign, whole, fraction in amounts)
    digits = str(abs(total)).rjust(places + 1, "0")
    whole = f"{'-' if total < 0 else ''}{digits[:len(digits) - places]}"
    return f"{whole}.{digits[len(digits) - places:]}" if places else whole


def _parts(payment: Payment, field: str) -> Tuple[str, str, str]:
    amount = payment.get(field)
    found = _DECIMAL.fullmatch(amount) if isinstance(amount, str) else None
    if found is None:
        raise ValueError(f"payment {payment.get('id')}: {field} can't be read")
    return found[1], found[2], found[3] or ""
