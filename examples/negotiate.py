#!/usr/bin/env python3
"""One program, three clients: one that can do everything, one that can only call tools, one that declares nothing.

    python3 examples/negotiate.py [http://127.0.0.1:8787]      with a token, if any, in ROLLCALL_TOKEN
"""

import json
import os
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

REGISTRY = (sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8787").rstrip("/")
TOKEN = os.environ.get("ROLLCALL_TOKEN")

CONTEXT = "dev.rollcall/context"
EVERYTHING = ["sampling", "notifications", "progress_tracking", "cancellation", "streaming", "batch_requests",
              "session_resume", CONTEXT]
WISH = {"task": "tell a reader what the weather will be, and find a book", "budget": 700}
# Ten at most are wanted, though the registry would give more: the smaller number is settled.
FEW = {"name": CONTEXT, "version": "1.0.0", "description": "", "parameters": {"max_items": 10}}


class Refused(Exception):
    """The registry said no. `code` tells a program why; the message tells a person."""

    def __init__(self, answer):
        super().__init__(str(answer["error"]))
        self.code = answer["code"]


def request(method, path, session=None, body=None, accept="*/*"):
    """The session id goes into a header of every request, beside the token: a session does not replace it."""
    headers = {"Accept": accept}
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    if session:
        headers["X-MCP-Session-ID"] = session
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body).encode()
    try:
        return urllib.request.urlopen(urllib.request.Request(REGISTRY + path, data, headers, method=method), timeout=60)
    except urllib.error.HTTPError as error:
        with error:
            text = error.read().decode(errors="replace")
        raise refusal(error.code, text) from None


def refusal(status, text):
    try:
        return Refused(json.loads(text))
    except (ValueError, TypeError, KeyError):
        return RuntimeError(f"{REGISTRY} answered {status}: is it a registry?")


def request_json(*args, **kwargs):
    with request(*args, **kwargs) as response:
        return json.load(response)


def events(lines):
    """The registry writes one data line an event, and a blank line after it."""
    event = None
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "event":
            event = value
        elif name == "data":
            yield event, json.loads(value)


def call(session, tool, arguments):
    """Calls a tool and takes the answer as it comes: progress and then the result, or the result alone."""
    accept = "text/event-stream, application/json"
    with request("POST", f"/mcp/tool/{tool}", session, arguments, accept) as response:
        content_type = response.headers.get_content_type()
        print(f"{tool} answers as {content_type}")
        if content_type != "text/event-stream":
            return json.load(response)
        for event, data in events(response):
            if event == "progress":
                print(f"  progress: {data['message']}")
            elif event == "result":
                return data
            elif event == "error":
                raise Refused(data)
    raise RuntimeError(f"{tool} ended without a result")


def call_each(session, tool, arguments):
    """Several calls of one tool: in one request where that was agreed on, one after the other where it was refused."""
    try:
        outcomes = call(session, tool, arguments)
    except Refused as refused:
        if refused.code != "ErrorCapabilityRequired":
            raise
        print(f"batch refused: {refused}; one by one, then")
        return [call(session, tool, one) for one in arguments]
    for outcome in outcomes:
        if "error" in outcome:
            raise Refused(outcome)
    return [outcome["result"] for outcome in outcomes]


class Session:
    """An open session, as the registry last described it."""

    def __init__(self, answer):
        self.answer = answer

    @property
    def id(self):
        return self.answer["session"]["id"]

    def resume(self):
        """Usually done when the session has expired; the old id and the old token are spent with it."""
        token = self.answer["session"]["resume_token"]
        self.answer = request_json("POST", "/mcp/session/resume", body={"resume_token": token})


@contextmanager
def negotiated(title, capabilities):
    """Opens a session, tells what was settled, and ends it whatever happens."""
    print(f"\n== {title}")
    body = {"client_name": "negotiate.py", "client_version": "1.0.0", "supported_capabilities": capabilities}
    if CONTEXT in capabilities:
        body |= {"capability_details": {"few": FEW}, "extensions": {CONTEXT: WISH}}
    session = Session(request_json("POST", "/mcp/negotiate", body=body))
    settled = session.answer["negotiated"]
    print("settled:" if settled["capabilities"] else "settled: nothing")
    for one in settled["capabilities"]:
        parameters = json.dumps(one["parameters"]) if "parameters" in one else ""
        print(f"  {one['name']} {one['version']} {parameters}".rstrip())
    for one in settled["declined"]:
        print(f"declined: {one['name']}: {one['message']}")
    try:
        yield session
    finally:
        request("DELETE", "/mcp/session", session.id).close()
        print("session ended")


def read_server(session):
    server = request_json("GET", "/mcp/resource?uri=capabilities://server", session)
    print(f"resource capabilities://server: {server['name']} {server['version']}")


def use_tools(session, items):
    servers = call(session, "list_servers", {})["items"]
    print("  servers: " + ", ".join(f"{one['tenant']}/{one['name']}" for one in servers))
    definitions = call_each(session, "get_capability", [{"tenant": one["tenant"], "id": one["id"]} for one in items])
    for item, definition in zip(items, definitions):
        same = definition["capability"]["registry"]["digest"] == item["digest"]
        print(f"  definition of {item['id']}: {'as chosen' if same else 'changed since it was chosen'}")
    read_server(session)


def chosen_items(session):
    context = session.answer["extensions"][CONTEXT]
    items = context["items"]
    if not items:
        raise RuntimeError("Nothing in this registry fits the task. `npm start` runs one with a demo catalogue.")
    print(f"chosen: {len(items)} items for {context['used_tokens']} of {WISH['budget']} tokens")
    for item in items:
        why = f"{item['why']}, rank {item['rank']}" if "rank" in item else item["why"]
        print(f"  {item['tokens']} tokens: {item['kind']} {item['id']} of {item['tenant']}/{item['server']} ({why})")
    print(f"left out: {len(context['left_out'])}")
    return items


def tell_refusal(what, work):
    """For what a client did not declare: prints how that is told."""
    try:
        work()
    except Refused as refused:
        print(f"{what} refused: {refused}")
    else:
        raise RuntimeError(f"{what} was not refused")


def main():
    with negotiated("a client that can do everything", EVERYTHING) as session:
        items = chosen_items(session)
        use_tools(session.id, items)
        session.resume()
        print("resumed under a new id")
        changes = request_json("GET", "/mcp/session/changes", session.id)["changes"]
        print(f"changes since the choice: {len(changes)}")
    with negotiated("a client that can only call tools", ["sampling"]) as session:
        use_tools(session.id, items)
    with negotiated("a client that declares nothing", []) as session:
        tell_refusal("tool", lambda: call(session.id, "list_servers", {}))
        tell_refusal("stream", lambda: request("GET", "/mcp/subscription/stream", session.id))
        read_server(session.id)


if __name__ == "__main__":
    try:
        main()
    except urllib.error.URLError as error:
        sys.exit(f"negotiate.py: {REGISTRY} cannot be reached: {error.reason}")
    except (Refused, RuntimeError, OSError, ValueError) as error:
        sys.exit(f"negotiate.py: {error}")
