"""Run by `npm run python-publisher`: real servers of the SDKs, and a hook that verifies with the standardwebhooks package."""

import json
import os
import subprocess
import sys
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import rollcall_publisher
from rollcall_publisher import publish
from standardwebhooks.webhooks import Webhook

SECRET = "whsec_" + "YS1zZWNyZXQtZm9yLXRlc3RzLW9mLXRoZS1raXQtMzI="


class Hook:
    def __init__(self, answer=lambda event, count: (202, {"outcome": "applied"}, {})):
        self.events, self.lines, self.changed = [], [], threading.Condition()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                event = Webhook(SECRET).verify(body, {key.lower(): value for key, value in self.headers.items()})["data"]
                with hook.changed:
                    hook.events.append(event)
                    status, answer, headers = answer_of(event, len(hook.events))
                    hook.changed.notify_all()
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *args):
                pass

        answer_of = answer
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/hooks/acme/h_1"

    def publish(self, server, **given):
        return publish(server, url=self.url, secret=given.pop("secret", SECRET), log=self.say, **given)

    def say(self, line):
        with self.changed:
            self.lines.append(line)
            self.changed.notify_all()

    def until(self, check):
        with self.changed:
            if not self.changed.wait_for(check, timeout=30):
                raise AssertionError(f"events {self.names()}, lines {self.lines}")

    def names(self):
        return [[tool["name"] for tool in event["manifest"]["tools"]] for event in self.events]


def official():
    from mcp.server import MCPServer

    server = MCPServer("weather", version="1.4.0", instructions="Ask for places.")

    @server.tool()
    def get_forecast(place: str) -> str:
        """Forecast for a place."""
        return place

    return server, server.add_tool


def low_level():
    from mcp import types
    from mcp.server.lowlevel import Server

    tools = [types.Tool(name="get_forecast", description="Forecast", input_schema={"type": "object"})]

    async def list_tools(context, params):
        return types.ListToolsResult(tools=tools)

    def add(function):
        tools.append(types.Tool(name=function.__name__, input_schema={"type": "object"}))

    return Server("weather", version="1.4.0", instructions="Ask for places.", on_list_tools=list_tools), add


def fast():
    from fastmcp import FastMCP

    server = FastMCP("weather", version="1.4.0", instructions="Ask for places.")

    @server.tool
    def get_forecast(place: str) -> str:
        """Forecast for a place."""
        return place

    return server, server.tool


def add_alert(place: str) -> str:
    """Alert for a place."""
    return place


class Publishing(unittest.TestCase):
    def test_at_start_and_after_a_tool_is_added(self):
        for make in (official, low_level, fast):
            with self.subTest(make.__name__):
                hook = Hook()
                server, add = make()
                publisher = hook.publish(server)
                hook.until(lambda: hook.names() == [["get_forecast"]])
                manifest = hook.events[0]["manifest"]
                self.assertEqual(manifest["version"], "1.4.0")
                self.assertEqual(manifest["instructions"], "Ask for places.")
                self.assertEqual(manifest["serverInfo"]["name"], "weather")
                self.assertEqual(manifest["tools"][0]["inputSchema"]["type"], "object")
                add(add_alert)
                publisher.republish()
                publisher.republish()
                hook.until(lambda: hook.names()[-1] == ["add_alert", "get_forecast"])
                self.assertEqual(len(hook.events), 2)
                self.assertGreater(hook.events[1]["sequence"], hook.events[0]["sequence"])
                self.assertEqual(hook.lines, [])

    def test_refusals_stop_and_say_what_to_do(self):
        for status, text in ((401, "rollcall hooks add"), (410, "rollcall hooks on"), (302, "Check ROLLCALL_HOOK_URL")):
            with self.subTest(status):
                hook = Hook(lambda event, count: (status, {"error": {"message": "No"}}, {"Location": "/"}))
                publisher = hook.publish(official()[0])
                hook.until(lambda: len(hook.lines) == 1)
                self.assertIn(text, hook.lines[0])
                publisher._thread.join(5)
                self.assertFalse(publisher._thread.is_alive())
                self.assertEqual(len(hook.events), 1)

    def test_a_refused_manifest_names_the_places(self):
        issues = [{"path": f"/data/manifest/tools/{n}", "message": "is wrong\x1b[31m"} for n in range(4)]
        error = {"message": "Invalid", "details": {"issues": issues}}
        hook = Hook(lambda event, count: (422, {"error": error}, {}))
        hook.publish(official()[0])
        hook.until(lambda: len(hook.lines) == 1)
        self.assertRegex(hook.lines[0], r"HTTP 422\): Invalid: /data/manifest/tools/0 is wrong .*and 1 more$")
        self.assertNotIn("\x1b", hook.lines[0])

    def test_an_outage_is_one_line_and_ends_with_the_newest(self):
        hook = Hook(lambda event, count: (503, {}, {}) if count <= 3 else (202, {"outcome": "applied"}, {}))
        rollcall_publisher._FIRST_DELAY = 0.01
        hook.publish(official()[0])
        hook.until(lambda: len(hook.lines) == 2)
        self.assertEqual(hook.lines[0], "rollcall: cannot publish, trying again later: HTTP 503 (HTTP 503)")
        self.assertEqual(hook.lines[1], "rollcall: published after all")

    def test_an_answer_that_breaks_off_is_an_outage(self):
        hook = Hook(
            lambda event, count: (502, {}, {"Content-Length": "100"}) if count <= 2 else (202, {"outcome": "applied"}, {})
        )
        rollcall_publisher._FIRST_DELAY = 0.01
        hook.publish(official()[0])
        hook.until(lambda: len(hook.lines) == 2)
        self.assertEqual(hook.lines[1], "rollcall: published after all")

    def test_releases(self):
        base = (2**22 + 7) * 2**20
        taken = [base + 5]

        def answer(event, count):
            if event["sequence"] <= taken[0]:
                return 202, {"outcome": "stale"}, {}
            if not event.get("dryRun"):
                taken[0] = event["sequence"]
            return 202, {"outcome": "applied"}, {}

        hook = Hook(answer)
        hook.publish(official()[0], release=7)
        hook.until(lambda: taken[0] == base + 8)
        newer = Hook(lambda event, count: (202, {"outcome": "stale"}, {}))
        newer.publish(official()[0], release=7)
        newer.until(lambda: len(newer.lines) == 1)
        self.assertEqual(newer.lines, ["rollcall: release 7 does not publish: a newer release has"])
        self.assertEqual([event.get("dryRun", False) for event in newer.events], [False, True])

    def test_what_is_not_set_or_wrong_is_one_line(self):
        for given, text in (
            ({"url": "", "secret": ""}, "are not set"),
            ({"url": "registry", "secret": SECRET}, "not an http"),
            ({"url": "http://x", "secret": "hunter2"}, "is not a secret"),
            ({"url": "http://x", "secret": SECRET, "release": "v1"}, "not a build number"),
        ):
            with self.subTest(text):
                lines = []
                publish(object(), log=lines.append, **given)
                self.assertEqual(len(lines), 1)
                self.assertIn(text, lines[0])
                self.assertNotIn("hunter2", lines[0])

    def test_a_registry_that_hangs_does_not_keep_the_process_alive(self):
        code = "from rollcall_publisher import publish; from mcp.server import MCPServer; publish(MCPServer('x')); print('end')"
        env = {**os.environ, "ROLLCALL_HOOK_URL": "http://127.0.0.1:9/", "ROLLCALL_HOOK_SECRET": SECRET}
        started = time.monotonic()
        here = os.path.dirname(os.path.abspath(__file__))
        done = subprocess.run([sys.executable, "-c", code], cwd=here, env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "end\n"))
        self.assertLess(time.monotonic() - started, 30)


if __name__ == "__main__":
    unittest.main()
