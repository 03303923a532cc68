"""A text as it may be meant: what looks like letters read as letters, what is encoded decoded.

Who hides an instruction from a filter relies on a model that reads it all the same: by look-alike letters,
invisible signs, spaces between letters, or an encoding that models know by heart.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from urllib.parse import unquote

# Letters of other scripts that look like Latin ones, small capitals, and letters of flags.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁɡοαενικρτηυςωγχոօսɑıɩᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ" + "".join(map(chr, range(0x1F1E6, 0x1F200))),
    "aeopcyxijsdgoaevikptnucwyxnouaii" + "abcdefghijklmnoprstuvwyz" + "abcdefghijklmnopqrstuvwxyz",
)
_DIGITS = str.maketrans("013457@$", "oieastas")

# Letters without a decomposition, and signs that look like a space.
_PLAIN = str.maketrans(
    {"đ": "d", "ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe"} | dict.fromkeys("\u115f\u1160\u2800", " ")
)

_SPACED = re.compile(r"\b(?:\w[ .\-_*]){4,}\w\b")

# What a decoder is given: its alphabet, long enough to hold a word or two.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE32 = re.compile(r"\b[A-Z2-7]{16,}={0,6}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :,]?){8,}")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_CODES = re.compile(r"(?:\b\d{2,3}\b[ ,;]*){8,}")


def folded(text: str) -> str:
    """Lower case, compatibility forms, no accents, no invisible signs."""
    text = unicodedata.normalize("NFKD", text)
    return (
        "".join(c for c in text if unicodedata.category(c) not in ("Mn", "Cf", "Cc", "Co") or c in "\n\t")
        .lower()
        .translate(_PLAIN)
    )


def readings(text: str) -> Iterator[str]:
    """A text folded, in all the ways it may be read; the plain way comes first."""
    plain = folded(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    words = re.sub(r"[_./+\-]+", " ", plain)
    yield plain
    yield words
    yield words.translate(_LOOKALIKES)
    yield words.translate(_DIGITS)
    if spaced := _SPACED.findall(plain):
        yield _SPACED.sub(lambda m: re.sub(r"[ .\-_*]", "", m[0]), plain)
        yield " ".join(re.sub(r"[ .\-_*]", "", part) for part in spaced)
    yield plain[::-1]
    yield codecs.encode(plain, "rot13")
    yield from map(folded, _decoded(text))


def _decoded(text: str) -> Iterator[str]:
    """What encoded parts of a text say."""
    for pattern, decode in _DECODERS:
        for block in pattern.findall(text):
            try:
                found = decode(block).decode("utf-8")
            except (binascii.Error, ValueError):
                continue
            if found.isprintable():
                yield found
    if "%" in text and (found := unquote(text)) != text:
        yield found
    if "&" in text and (found := html.unescape(text)) != text:
        yield found
    if (found := _ESCAPED.sub(lambda m: chr(int(m[1] or m[2], 16)), text)) != text:
        yield found


def _base64(block: str) -> bytes:
    standard = block.rstrip("=").translate(str.maketrans("-_", "+/"))
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


def _base32(block: str) -> bytes:
    return base64.b32decode(block.rstrip("=") + "=" * (-len(block.rstrip("=")) % 8))


def _hex(block: str) -> bytes:
    return bytes.fromhex(re.sub(r"[ :,]", "", block))


def _codes(block: str) -> bytes:
    return bytes(map(int, re.findall(r"\d+", block)))


_DECODERS: tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...] = (
    (_BASE64, _base64),
    (_BASE32, _base32),
    (_HEX, _hex),
    (_CODES, _codes),
)


def hides_signs(text: str) -> bool:
    """Whether a text has a change of direction, tags, or a run of invisible signs that may spell a word."""
    return not text.isascii() and _HIDING.search(text) is not None


_HIDING = re.compile(
    "[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]|[\u200b-\u200d\u2060-\u2064\ufeff]{3,}"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"
)
