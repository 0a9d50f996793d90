"""An MCP server publishes itself to a Rollcall registry.

    from rollcall_publisher import publish

    publisher = publish(server)   # before server.run()
    ...
    publisher.republish()         # after tools, prompts or resources changed

Takes servers of the official SDK (MCPServer, FastMCP of version 1, and the low-level Server) and of fastmcp. Needs Python 3.10
and nothing besides. The hook is in the environment: ROLLCALL_HOOK_URL and ROLLCALL_HOOK_SECRET, as `rollcall hooks add` prints
them, and ROLLCALL_RELEASE, a build number that grows with every release.

Publishing happens in a thread of its own that never keeps the process alive. Whatever goes wrong is one line on stderr.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import http.client
import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timezone
from typing import Any, Callable, Optional

__all__ = ["Publisher", "publish"]

_FIRST_DELAY = 1.0
_LONGEST_DELAY = 300.0
_REQUEST_SECONDS = 10.0
_READ_SECONDS = 30.0
_SETTLE_SECONDS = 0.5
_LARGEST_STEP = 2**20 - 1
_MOST_PAGES = 1_000
_SECTIONS = {
    "tools": ("tools", "name"),
    "prompts": ("prompts", "name"),
    "resources": ("resources", "uri"),
    "resourceTemplates": ("resource_templates", "uriTemplate"),
}


def publish(
    server: Any,
    *,
    url: Optional[str] = None,
    secret: Optional[str] = None,
    release: Optional[int] = None,
    log: Optional[Callable[[str], None]] = None,
) -> "Publisher":
    """Publishes what the server offers, in the background. Arguments that are absent come from the environment."""
    given = os.environ.get("ROLLCALL_RELEASE", "") if release is None else str(release)
    publisher = Publisher(
        server,
        url or os.environ.get("ROLLCALL_HOOK_URL", ""),
        secret or os.environ.get("ROLLCALL_HOOK_SECRET", ""),
        given,
        log or (lambda line: print(line, file=sys.stderr, flush=True)),
    )
    publisher.republish()
    return publisher


class _Stop(Exception):
    """Nothing more will be published."""


class _Refused(Exception):
    """This content will not be published; the next may be."""


class _Again(Exception):
    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Publisher:
    """Sends manifests one after the other, the newest of those that wait."""

    def __init__(self, server: Any, url: str, secret: str, release: str, log: Callable[[str], None]) -> None:
        self._server = server
        self._url = url
        self._release = release
        self._log = log
        self._wanted = threading.Event()
        self._sent = ""
        self._last = 0
        self._is_down = False
        self._thread: Optional[threading.Thread] = None
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._key = b""
        problem = self._problem(url, secret, release)
        if problem:
            self._say(f"not publishing: {problem}")
            return
        self._thread = threading.Thread(target=self._run, name="rollcall-publisher", daemon=True)
        self._thread.start()

    def republish(self) -> None:
        """Reads the server again, and publishes what changed. Returns at once."""
        self._wanted.set()

    def _problem(self, url: str, secret: str, release: str) -> Optional[str]:
        if not url or not secret:
            return "ROLLCALL_HOOK_URL and ROLLCALL_HOOK_SECRET are not set"
        if not url.startswith(("http://", "https://")):
            return "ROLLCALL_HOOK_URL is not an http or https address"
        if release and not (release.isascii() and release.isdigit() and len(release) <= 9):
            return "ROLLCALL_RELEASE is not a build number"
        try:
            self._key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except (binascii.Error, ValueError):
            self._key = b""
        return None if 24 <= len(self._key) <= 64 else "ROLLCALL_HOOK_SECRET is not a secret: it looks like whsec_ and base64"

    def _say(self, line: str) -> None:
        try:
            self._log(f"rollcall: {line}")
        except Exception:
            pass

    def _run(self) -> None:
        try:
            while True:
                self._wanted.wait()
                # Several changes at once are one.
                time.sleep(_SETTLE_SECONDS)
                self._wanted.clear()
                self._publish()
        except _Stop as stop:
            self._say(str(stop))

    def _publish(self) -> None:
        failures = 0
        while True:
            try:
                manifest = _read(self._server)
                text = json.dumps(manifest, sort_keys=True)
                if text != self._sent:
                    self._deliver(manifest)
                    self._sent = text
                if self._is_down:
                    self._say("published after all")
                self._is_down = False
                return
            except _Refused as refused:
                self._say(str(refused))
                return
            except _Stop:
                raise
            except _Again as again:
                reason, wait = str(again), again.wait
            except Exception as error:  # the server's own lists failed
                self._say(f"cannot read what this server offers: {_plain(f'{type(error).__name__}: {error}')}")
                return
            if not self._is_down:
                self._say(f"cannot publish, trying again later: {reason}")
            self._is_down = True
            delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** min(failures, 20))
            failures += 1
            # A change that comes meanwhile is read with the next try.
            time.sleep(max(delay * (0.5 + random.random() / 2), wait))
            self._wanted.clear()

    def _deliver(self, manifest: dict) -> None:
        if self._send({"manifest": manifest}, self._next()).get("outcome") != "stale":
            return
        if not self._release:
            raise _Refused("another replica with a later clock has published; this one waits for its next change")
        base = self._base()
        if self._send({"manifest": manifest, "dryRun": True}, base + _LARGEST_STEP).get("outcome") == "stale":
            raise _Stop(f"release {self._release} does not publish: a newer release has")
        step = max(1, self._last - base)
        while step < _LARGEST_STEP:
            step = min(_LARGEST_STEP, step * 2)
            self._last = base + step
            if self._send({"manifest": manifest}, self._last).get("outcome") != "stale":
                return

    def _base(self) -> int:
        return (2**22 + int(self._release)) * 2**20

    def _next(self) -> int:
        """Orders the events of a hook. Switching from the clock to releases only raises the number."""
        if self._release:
            self._last = max(self._last, self._base()) + 1
        else:
            self._last = max(self._last + 1, int(time.time() * 1_000))
        return self._last

    def _send(self, data: dict, sequence: int) -> dict:
        at = datetime.now(timezone.utc)
        event = {"type": "manifest.published", "timestamp": at.isoformat(), "data": {**data, "sequence": sequence}}
        body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        identity, seconds = uuid.uuid4().hex, str(int(at.timestamp()))
        digest = hmac.new(self._key, f"{identity}.{seconds}.".encode() + body, hashlib.sha256).digest()
        headers = {
            "Content-Type": "application/json",
            "webhook-id": identity,
            "webhook-timestamp": seconds,
            "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
        }
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        try:
            try:
                with self._opener.open(request, timeout=_REQUEST_SECONDS) as response:
                    answer = _object(response.read())
            except urllib.error.HTTPError as error:
                # The body may break off as well: then it is an outage, not a refusal.
                with error:
                    status, headers, refused = error.code, error.headers, _object(error.read())
                raise self._refusal(status, refused, headers.get("Retry-After")) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise _Again(_plain(str(getattr(error, "reason", error))) or "the registry cannot be reached") from None
        if answer.get("outcome") == "pending" or "pending" in answer:
            self._say("published, and held for review: readers see the approved revision until then")
        return answer

    def _refusal(self, status: int, answer: dict, retry_after: Optional[str]) -> Exception:
        error = answer["error"] if isinstance(answer.get("error"), dict) else answer
        reason = _plain(str(error.get("message") or f"HTTP {status}"))
        if status == 401:
            return _Stop(
                "stopped: the registry does not accept the signature. Check ROLLCALL_HOOK_SECRET and this machine's clock; "
                "if the hook is gone, make one with: rollcall hooks add"
            )
        if status == 410:
            return _Stop("stopped: the hook is switched off. Switch it on with: rollcall hooks on; then start the server again")
        if status in (403, 404) or 300 <= status < 400:
            return _Stop(f"stopped: the hook does not take this: {reason} (HTTP {status}). Check ROLLCALL_HOOK_URL")
        if status == 429 or status >= 500:
            wait = float(retry_after) if retry_after and retry_after.isdigit() else 0.0
            return _Again(f"{reason} (HTTP {status})", min(wait, _LONGEST_DELAY))
        details = error.get("details")
        issues = details.get("issues") if isinstance(details, dict) else None
        places = [f"{one.get('path')} {one.get('message')}" for one in issues or [] if isinstance(one, dict)]
        more = f"; and {len(places) - 3} more" if len(places) > 3 else ""
        where = f": {_plain('; '.join(places[:3]))}{more}" if places else ""
        return _Refused(f"the registry refused what this server offers (HTTP {status}): {reason}{where}")


def _object(body: bytes) -> dict:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _plain(text: str) -> str:
    """What others wrote, on one line."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())[:500]


def _read(server: Any) -> dict:
    """What the server offers, as a client without authorisation sees it: through a client in this process."""
    return asyncio.run(asyncio.wait_for(_read_lists(server), _READ_SECONDS))


async def _read_lists(server: Any) -> dict:
    async with _connect(server) as session:
        introduction, capabilities = await _introduction(session)
        manifest = {key: value for key, value in introduction.items() if value is not None}
        for section, (attribute, key) in _SECTIONS.items():
            capability = "resources" if section == "resourceTemplates" else section
            found = await _list(session, attribute) if getattr(capabilities, capability, None) is not None else []
            items = {item[key]: item for item in map(_dump, found) if isinstance(item.get(key), str)}
            manifest[section] = [items[name] for name in sorted(items)]
        return manifest


def _connect(server: Any) -> Any:
    if type(server).__module__.split(".")[0] == "fastmcp":
        from fastmcp import Client

        return Client(server)
    try:
        from mcp import Client
    except ImportError:  # version 1
        from mcp.shared.memory import create_connected_server_and_client_session

        return create_connected_server_and_client_session(getattr(server, "_mcp_server", server))
    return Client(server)


async def _introduction(session: Any) -> tuple:
    result = getattr(session, "initialize_result", None)
    if result is None and hasattr(session, "server_info"):
        info, capabilities = session.server_info, session.server_capabilities
        instructions = getattr(session, "instructions", None)
    else:
        result = result or await session.initialize()
        info = getattr(result, "server_info", None) or getattr(result, "serverInfo", None)
        capabilities, instructions = result.capabilities, result.instructions
    described = _dump(info) if info is not None else {}
    header = {member: described.get(member) for member in ("title", "version", "description")}
    return {**header, "serverInfo": described or None, "instructions": instructions}, capabilities


async def _list(session: Any, attribute: str) -> list:
    """All pages. Some clients answer the list itself, and have read all pages then."""
    items: list = []
    cursor: Optional[str] = None
    for _ in range(_MOST_PAGES):
        method = getattr(session, f"list_{attribute}")
        result = await (method() if cursor is None else method(cursor=cursor))
        if isinstance(result, list):
            return result
        found = getattr(result, attribute, None)
        items.extend(getattr(result, "resourceTemplates", []) if found is None else found)
        following = result.next_cursor if hasattr(result, "next_cursor") else result.nextCursor
        if not following or following == cursor:
            return items
        cursor = following
    raise RuntimeError(f"list_{attribute} has no end")


def _dump(item: Any) -> dict:
    return _line_feeds(item.model_dump(mode="json", by_alias=True, exclude_none=True))


def _line_feeds(value: Any, name: str = "") -> Any:
    """Descriptions written on Windows: the registry refuses carriage returns, as nobody sees them."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n") if name in ("description", "instructions") else value
    if isinstance(value, list):
        return [_line_feeds(item) for item in value]
    if isinstance(value, dict):
        return {key: _line_feeds(item, key) for key, item in value.items()}
    return value
