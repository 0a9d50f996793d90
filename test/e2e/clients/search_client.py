"""Calls a registry with the client that openapi-python-client makes of its OpenAPI document."""

import os
import sys

from rollcall_client import AuthenticatedClient, Client
from rollcall_client.api.find import get_capabilities, search_capabilities
from rollcall_client.models import ApiError, CapabilitiesAnswer, CapabilityKind, SearchPageAnswer

url = sys.argv[1]
anyone = Client(base_url=url)

found = search_capabilities.sync(client=anyone, task="will it rain tomorrow", kind=[CapabilityKind.TOOL], limit=2)
assert isinstance(found, SearchPageAnswer), found
best = found.data.items[0]
assert isinstance(best.tokens, int) and best.kind is CapabilityKind.TOOL, best

member = AuthenticatedClient(base_url=url, token=os.environ["ROLLCALL_TOKEN"])
read = get_capabilities.sync(client=member, tenant="demo", name="weather")
assert isinstance(read, CapabilitiesAnswer) and len(read.data.tools) > 0, read

refused = search_capabilities.sync_detailed(client=anyone, task="rain", limit=0)
assert refused.status_code == 400 and refused.parsed.error.code == "ErrorBadRequest", refused
stranger = get_capabilities.sync(client=anyone, tenant="demo", name="weather")
assert stranger.error.code == "ErrorUnauthorized" and not isinstance(stranger, ApiError), stranger

print(f"a Python client found {best.name} ({best.tokens} tokens) and read {len(read.data.tools)} tools")
