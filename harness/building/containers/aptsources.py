"""The host's apt sources, in both of apt's formats: where an image's packages come from; pure but for reading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from harness.base.errors import HarnessError

_ONE_LINE = re.compile(
    r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)(?P<components>(?:\s+\S+)*)\s*"
)


@dataclass(frozen=True, slots=True)
class AptSource:
    """One suite at one address; `options` are apt's own, such as `signed-by=/…/debian.gpg`."""

    uri: str
    suite: str
    components: tuple[str, ...]
    options: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """As a line of sources.list."""
        options = f"[{' '.join(self.options)}] " if self.options else ""
        return " ".join((f"deb {options}{self.uri}", self.suite, *self.components))

    @property
    def public(self) -> str:
        """Address and suite, without a password."""
        parts = urlsplit(self.uri)
        return f"{parts._replace(netloc=parts.netloc.rpartition('@')[2]).geturl()} {self.suite}"


def host_sources(codename: str, folder: Path = Path("/etc/apt")) -> list[AptSource]:
    """Return the host's sources of its own distribution. Raises HarnessError when there are none.

    `codename` is the distribution's, such as `bookworm`: other suites are other people's packages.
    """
    files = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]
    found = [source for file in files if file.is_file() for source in _read(file)]
    own = [source for source in found if is_of(source.suite, codename)]
    if not own:
        raise HarnessError(
            f"apt's sources in {folder} name no suite of {codename or 'this distribution'}, to take packages from.",
            "An image is made from packages on Debian and its like; elsewhere use --host-bind or --pull NAME.",
        )
    return own


def is_of(suite: str, codename: str) -> bool:
    """Whether a suite is a distribution's own: the release, its updates or its security fixes; no backports."""
    return suite in {codename, f"{codename}-updates", f"{codename}-security", f"{codename}/updates"}


def parse_list(text: str) -> Iterator[AptSource]:
    """Yield the binary sources of a one-line-style file."""
    for line in text.splitlines():
        found = _ONE_LINE.fullmatch(line.partition("#")[0].strip())
        if found:
            options = tuple((found["options"] or "").split())
            yield AptSource(found["uri"], found["suite"], tuple(found["components"].split()), options)


def parse_deb822(text: str) -> Iterator[AptSource]:
    """Yield the enabled binary sources of a deb822-style file: every address with every suite."""
    for stanza in re.split(r"\n\s*\n", text):
        fields = _fields(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false"):
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield AptSource(uri, suite, tuple(fields.get("components", "").split()), _options(fields))


def _read(file: Path) -> Iterator[AptSource]:
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".sources":
        return parse_deb822(text)
    return parse_list(text) if file.suffix == ".list" else iter(())


def _fields(stanza: str) -> dict[str, str]:
    """Return a stanza's fields by lower-case name; a line that begins with a blank goes on with the field before."""
    lines = [line for line in stanza.splitlines() if not line.startswith("#")]
    pairs = (line.partition(":") for line in re.sub(r"\n[ \t]+", " ", "\n".join(lines)).splitlines())
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def _options(fields: dict[str, str]) -> tuple[str, ...]:
    """Return the options that matter: a key by its file (one that stands in the field itself apt finds elsewhere)."""
    key = fields.get("signed-by", "")
    signed = (f"signed-by={key}",) if key.startswith("/") and " " not in key else ()
    trusted = ("trusted=yes",) if fields.get("trusted", "").lower() == "yes" else ()
    return signed + trusted
