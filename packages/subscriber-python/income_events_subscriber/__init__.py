"""Reads the messages of income-events and the documents behind them."""

from .documents import DocumentError, DocumentResult, read_document
from .income import MonthlyIncome, monthly_income
from .messages import Message, Unreadable, read_message
from .reader import KEPT_DAYS, InMemory, Memory, Reader, Remembered, Result

__all__ = [
    "KEPT_DAYS",
    "DocumentError",
    "DocumentResult",
    "InMemory",
    "Memory",
    "Message",
    "MonthlyIncome",
    "Reader",
    "Remembered",
    "Result",
    "Unreadable",
    "monthly_income",
    "read_document",
    "read_message",
]
