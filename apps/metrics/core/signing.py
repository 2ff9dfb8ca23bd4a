"""Signatures of webhooks after the Standard Webhooks specification: HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
TOLERANCE_S = 300


def new_secret() -> str:
    """Make a secret of 24 random bytes, written as the specification does."""
    return PREFIX + base64.b64encode(secrets.token_bytes(24)).decode()


def headers(secret: str, identity: str, at: int, body: bytes) -> dict[str, str]:
    """Give the three headers that prove where a message comes from; `at` is seconds since 1970."""
    return {
        "webhook-id": identity,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{_signature(secret, identity, at, body)}",
    }


def verified(secret: str, told: dict[str, str], body: bytes, now: float) -> bool:
    """Say whether a message is ours and fresh: what a receiver does."""
    identity, signatures = told.get("webhook-id", ""), told.get("webhook-signature", "").split()
    try:
        at = int(told.get("webhook-timestamp", ""))
    except ValueError:
        return False
    right = f"v1,{_signature(secret, identity, at, body)}"
    return abs(now - at) <= TOLERANCE_S and any(hmac.compare_digest(right, one) for one in signatures)


def _signature(secret: str, identity: str, at: int, body: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        key = secret.encode()
    signed = f"{identity}.{at}.".encode() + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
