"""Connects the official Python SDK by a client's configuration file, and calls a tool of the registry."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        entry = json.load(file)["mcpServers"]["rollcall"]
    place = entry["url"] if "url" in entry else StdioServerParameters(command=entry["command"], args=entry["args"])
    async with Client(place) as client:
        tools = (await client.list_tools()).tools
        found = await client.call_tool("search_capabilities", {"task": "weather tomorrow", "limit": 1})
        assert not found.is_error, found
        item = found.structured_content["items"][0]
        print(f"the Python SDK lists {len(tools)} tools and finds {item['name']}")


asyncio.run(main(sys.argv[1]))
