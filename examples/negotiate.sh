#!/bin/sh
# One program, three clients: one that can do everything, one that can only call tools, one that declares nothing.
#
#   sh examples/negotiate.sh [http://127.0.0.1:8787]      with a token, if any, in ROLLCALL_TOKEN
#
# Needs curl, grep and sed. The registry writes JSON without spaces, and names and ids hold no quotes, so grep and sed are
# enough to show what is in an answer. A script that depends on it should use a JSON parser.
set -eu

registry=${1:-http://127.0.0.1:8787}
registry=${registry%/}
session=
scratch=$(mktemp -d)
# In a file that only its owner can read: other users can see a command line.
echo "${ROLLCALL_TOKEN:+Authorization: Bearer $ROLLCALL_TOKEN}" > "$scratch/token"

finish() {
  result=$?
  # A session that is left behind ends itself after an hour; this is politeness.
  if [ -n "$session" ]; then (request DELETE /mcp/session) 2> /dev/null || true; fi
  rm -rf "$scratch"
  exit "$result"
}
trap finish EXIT
trap 'exit 130' INT TERM

die() {
  echo "negotiate.sh: $*" >&2
  exit 1
}

# request METHOD PATH [BODY]: leaves the answer in $scratch/body, its headers in $scratch/headers, its status in $status.
# The session id goes into a header of every request, beside the token: a session does not replace it.
request() {
  method=$1 path=$2
  set -- ${3+--data "$3"}
  if [ -n "$session" ]; then set -- "$@" --header "X-MCP-Session-ID: $session"; fi
  status=$(curl --silent --show-error --request "$method" --output "$scratch/body" --dump-header "$scratch/headers" \
    --header 'Content-Type: application/json' --header 'Accept: text/event-stream, application/json' \
    --header "@$scratch/token" --write-out '%{http_code}' "$@" "$registry$path" 2> "$scratch/trouble") ||
    die "$registry cannot be reached: $(cat "$scratch/trouble")"
}

# The first string or number under a key of some JSON (of the answer, unless another text is given), and a header without
# its parameters. Empty where there is none.
value() {
  printf '%s\n' "${2-$(cat "$scratch/body")}" | grep -oE "\"$1\":(\"[^\"]*\"|[0-9]+)" | head -n 1 | sed 's/^"[^"]*"://; s/"//g'
}
header() { grep -i "^$1:" "$scratch/headers" | sed 's/^[^:]*: *//; s/;.*//' | tr -d '\r'; }

# The objects of the list "items", a line each.
items() {
  sed -n 's/.*"items":\[\({.*\)/\1/p' "$1" | sed 's/}\],.*//; s/},{/}\
{/g' | grep . || true
}

needs_ok() {
  [ "$status" = 200 ] && return
  message=$(value error)
  die "${message:-$registry answered $status: is it a registry?}"
}

# negotiate TITLE CAPABILITIES [MORE]: CAPABILITIES and MORE are JSON, as they go into the request.
negotiate() {
  printf '\n== %s\n' "$1"
  request POST /mcp/negotiate \
    "{\"client_name\": \"negotiate.sh\", \"client_version\": \"1.0.0\", \"supported_capabilities\": $2${3:+, $3}}"
  needs_ok
  session=$(header X-MCP-Session-ID)
  settled=$(sed 's/.*"negotiated":{"capabilities":\[//; s/\],"declined":.*//' "$scratch/body")
  if [ -z "$settled" ]; then
    echo 'settled: nothing'
    return
  fi
  echo 'settled:'
  echo "$settled" | grep -oE '"name":"[^"]*","version":"[^"]*"(,"parameters":\{[^}]*\})?' |
    sed 's/"name":"\([^"]*\)","version":"\([^"]*\)"/  \1 \2/; s/,"parameters":/ /'
}

end_session() {
  request DELETE /mcp/session
  needs_ok
  session=
  echo 'session ended'
}

# The answer of a tool, as an event stream or as JSON, whichever came: curl has waited for the end of either.
tell_answer() {
  needs_ok
  echo "$1 answers as $(header Content-Type)"
  sed -n '/^event: progress/{n; s/.*"message":"\([^"]*\)".*/  progress: \1/p;}' "$scratch/body"
  # After the status is sent, an error can only be an event.
  if grep -q '^event: error' "$scratch/body"; then die "$(value error)"; fi
}

# Definitions in the answer, by digest: the one that was chosen is the one to expect.
tell_definitions() {
  tell_answer get_capability
  grep -oE '"registry":\{[^}]*' "$scratch/body" | while read -r registered; do
    digest=$(value digest "$registered")
    verdict='changed since it was chosen'
    if grep -q "$digest" "$scratch/chosen"; then verdict='as chosen'; fi
    echo "  definition $digest: $verdict"
  done
}

read_server() {
  request GET '/mcp/resource?uri=capabilities://server'
  needs_ok
  echo "resource capabilities://server: $(value name) $(value version)"
}

use_tools() {
  request POST /mcp/tool/list_servers '{}'
  tell_answer list_servers
  items "$scratch/body" | while read -r one; do echo "  server: $(value tenant "$one")/$(value name "$one")"; done

  # In one request where that was agreed on, one after the other where it is refused.
  request POST /mcp/tool/get_capability "[$(paste -s -d , "$scratch/arguments")]"
  if [ "$(value code)" = ErrorCapabilityRequired ]; then
    echo "batch refused: $(value error); one by one, then"
    while read -r arguments; do
      request POST /mcp/tool/get_capability "$arguments"
      tell_definitions
    done < "$scratch/arguments"
  else
    tell_definitions
  fi
  read_server
}

# For what a client did not declare: prints how that is told.
tell_refusal() {
  [ "$status" = 403 ] || die "$1 was not refused"
  echo "$1 refused: $(value error)"
}

budget=700
# Ten at most are wanted, though the registry would give more: the smaller number is settled.
wish='"capability_details": {"few": {"name": "dev.rollcall/context", "version": "1.0.0", "description": "",
    "parameters": {"max_items": 10}}},
  "extensions": {"dev.rollcall/context": {"budget": '$budget',
    "task": "tell a reader what the weather will be, and find a book"}}'

negotiate 'a client that can do everything' '["sampling", "notifications", "progress_tracking", "cancellation",
  "streaming", "batch_requests", "session_resume", "dev.rollcall/context"]' "$wish"
resume_token=$(value resume_token)
items "$scratch/body" > "$scratch/chosen"
[ -s "$scratch/chosen" ] || die 'Nothing in this registry fits the task. "npm start" runs one with a demo catalogue.'
echo "chosen: $(grep -c . "$scratch/chosen") items for $(value used_tokens) of $budget tokens"
while read -r one; do
  id=$(value id "$one") tenant=$(value tenant "$one")
  echo "  $(value tokens "$one") tokens: $(value kind "$one") $id of $tenant/$(value server "$one") ($(value why "$one"))"
  echo "{\"tenant\": \"$tenant\", \"id\": \"$id\"}" >> "$scratch/arguments"
done < "$scratch/chosen"
use_tools
# Usually done when the session has expired; the old id and the old token are spent with it.
request POST /mcp/session/resume "{\"resume_token\": \"$resume_token\"}"
needs_ok
session=$(header X-MCP-Session-ID)
echo 'resumed under a new id'
request GET /mcp/session/changes
needs_ok
echo "changes since the choice: $(grep -o '"sequence":' "$scratch/body" | wc -l | tr -d ' ')"
end_session

negotiate 'a client that can only call tools' '["sampling"]'
use_tools
end_session

negotiate 'a client that declares nothing' '[]'
request POST /mcp/tool/list_servers '{}'
tell_refusal tool
request GET /mcp/subscription/stream
tell_refusal stream
read_server
end_session
