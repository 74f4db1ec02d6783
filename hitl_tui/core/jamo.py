"""The two-set Korean keyboard: what its letters send while the input method is on. Pure."""

from __future__ import annotations

JAMO = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyz",
        "ㅁㅠㅊㅇㄷㄹㅎㅗㅑㅓㅏㅣㅡㅜㅐㅔㅂㄱㄴㅅㅕㅍㅈㅌㅛㅋ",
        strict=True,
    )
)
"""The jamo of each letter's key: with the input method on, `a` arrives as ㅁ."""
