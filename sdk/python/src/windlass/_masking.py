"""Masks: values of secrets that a run has read become `***` in what it writes and records."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, quote_plus

from windlass._narrow import is_list, is_object, is_tuple

MASK = "***"

# A shorter number is as likely a count or a status as the value of a secret.
MIN_DIGITS = 4
# A shorter text in base64 is as likely a part of another word.
MIN_BASE64 = 4


class Mask:
    """Replaces the values of secrets in texts and JSON values."""

    def __init__(self) -> None:
        # Longest first: a secret may contain another one.
        self._texts: list[str] = []

    def add(self, values: Iterable[Any]) -> None:
        """Adds the texts and numbers in JSON values, in the forms in which they are written."""
        found = {text for value in values for leaf in _leaves(value) for text in _forms(leaf)}
        self._texts = sorted(found.union(self._texts), key=len, reverse=True)

    def text(self, text: str) -> str:
        """Returns a text with `***` in place of the secrets."""
        for secret in self._texts:
            text = text.replace(secret, MASK)
        return text

    def value(self, value: Any) -> Any:
        """Returns a JSON value with `***` in place of secrets in texts, keys and numbers."""
        if not self._texts:
            return value
        if isinstance(value, str):
            return self.text(value)
        if is_object(value):
            return {self.text(name): self.value(part) for name, part in value.items()}
        if is_list(value):
            return [self.value(part) for part in value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return MASK if is_number and self._is_secret_number(str(value)) else value

    def _is_secret_number(self, text: str) -> bool:
        return len(text) >= MIN_DIGITS and text in self._texts


def _leaves(value: Any) -> Iterable[str]:
    """Yields the texts and numbers in a JSON value."""
    if is_object(value):
        for member in value.values():
            yield from _leaves(member)
    elif is_list(value) or is_tuple(value):
        for element in value:
            yield from _leaves(element)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)


def _forms(text: str) -> Iterable[str]:
    """Yields the texts in which a secret may be written; printed text has one line each."""
    encoded = text.encode(errors="replace")
    forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    forms |= {repr(text)[1:-1], repr(encoded)[2:-1]}
    forms |= {quote(encoded), quote(encoded, safe=""), quote_plus(encoded)}
    if len(text) >= MIN_BASE64:
        forms |= {b64encode(encoded).decode(), urlsafe_b64encode(encoded).decode()}
    yield from filter(None, forms)
    lines = text.splitlines()
    if len(lines) > 1:
        yield from filter(str.strip, lines)
