"""Fields that come as JSON or as the text of a form."""

from __future__ import annotations

import json
import math
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

LETTERS = 1_000_000


class Number(serializers.FloatField):
    """A finite number."""

    def to_internal_value(self, data: Any) -> float:
        """Take a number; infinities and what is no number are refused."""
        if isinstance(data, bool):
            self.fail("invalid")
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return float(value)


def _listed(data: Any) -> Any:
    """Read a form's text as a list: JSON, or words between commas or lines."""
    if isinstance(data, UploadedFile):
        try:
            data = data.read(LETTERS).decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            raise serializers.ValidationError("This file is not UTF-8 text.") from problem
    if not isinstance(data, str):
        return data
    text = data.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as problem:
            raise serializers.ValidationError("This is not a JSON list.") from problem
    parts = text.splitlines() if "\n" in text else text.split(",")
    return [part.strip() for part in parts if part.strip()]


@extend_schema_field({"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3})
class Channels(serializers.ListField):
    """Three numbers, one a channel (red, green, blue); a form sends `0.485,0.456,0.406`."""

    child = Number()

    def __init__(self, *, least: float, most: float, **kwargs: Any) -> None:
        super().__init__(min_length=3, max_length=3, **kwargs)
        self.child = Number(min_value=least, max_value=most)
        self.child.bind(field_name="", parent=self)  # type: ignore[arg-type]

    def get_value(self, dictionary: Any) -> Any:
        """Take what was sent as one value, also from a form."""
        return dictionary.get(self.field_name, serializers.empty)

    def to_internal_value(self, data: Any) -> Any:
        """Take a list or its text."""
        return super().to_internal_value(_listed(data))


@extend_schema_field({"type": "array", "items": {"type": "string", "maxLength": 200}, "maxItems": 100_000})
class Labels(serializers.ListField):
    """Names of classes, by number; a form sends JSON, lines, words between commas, or a file of lines."""

    child = serializers.CharField(max_length=200, allow_blank=True)

    def get_value(self, dictionary: Any) -> Any:
        """Take what was sent as one value, also from a form."""
        return dictionary.get(self.field_name, serializers.empty)

    def to_internal_value(self, data: Any) -> Any:
        """Take a list or its text."""
        return super().to_internal_value(_listed(data))
