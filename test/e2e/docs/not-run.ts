interface NotRun {
  page: string;
  /** First line of the block. */
  begins: string;
  reason: string;
}

const installs = "installs or starts what the test has started already";
const ofPackage = "test/e2e/package runs the page from the tarball";
const ofConnecting = "test/e2e/package/connect.ts runs the command, in a home folder of its own";
const ofPublisher = "test/e2e/package/publisher.ts starts servers with a hook";
const runsTests = "runs the tests themselves";
const needsAccount = "needs a Cloudflare account";
const needsPeer = "needs another registry; test/unit/bench-peers.test.ts reads such a file";
const staysOpen = "waits for changes until it is interrupted; test/e2e/end-to-end.test.ts follows a stream";

const needsGenerator = "fetches a generator of clients; test/e2e/clients and npm run python-client make both clients";

/** Blocks marked `sh norun`, and why. */
export const notRun: NotRun[] = [
  {
    page: "docs/reference/changes.md",
    begins:
      'curl -N "$ROLLCALL_URL/api/changes/demo?since=76" -H "Authorization: Bearer $ROLLCALL_TOKEN" -H \'Accept: text/event-stream\'',
    reason: staysOpen,
  },
  {
    page: "docs/how-to/clients.md",
    begins: "npx openapi-typescript $ROLLCALL_URL/openapi.json --output rollcall.d.ts",
    reason: needsGenerator,
  },
  {
    page: "docs/how-to/clients.md",
    begins: "openapi-python-client generate --url $ROLLCALL_URL/openapi.json",
    reason: needsGenerator,
  },
  {
    page: "docs/tutorial/operator.md",
    begins: "npm run serve -- --port 8787 --data .rollcall --no-demo",
    reason: installs,
  },
  { page: "docs/tutorial/operator.md", begins: "npm start -- --var READ_LIMIT=50/100", reason: installs },
  {
    page: "docs/reference/official-registry.md",
    begins: "node tools/compare-registries.ts http://127.0.0.1:8080 http://127.0.0.1:8787",
    reason: needsPeer,
  },
  {
    page: "docs/explanation/performance/peers.md",
    begins: "npm run bench:official",
    reason: "builds the official registry with go and starts a PostgreSQL, for minutes",
  },
  { page: "docs/how-to/connecting.md", begins: "rollcall config vscode", reason: ofConnecting },
  { page: "docs/how-to/publisher-kit.md", begins: "rollcall hooks add acme/weather", reason: ofPublisher },
  {
    page: "docs/tutorial/operator.md",
    begins: "# Ctrl-C, or SIGTERM from the service manager; then",
    reason: "needs the registry to be stopped",
  },
  { page: "docs/tutorial/operator.md", begins: "npx wrangler login", reason: needsAccount },
  { page: "docs/how-to/deploying.md", begins: "npx wrangler login", reason: needsAccount },
  { page: "docs/tutorial/pin-and-verify.md", begins: "npm ci", reason: ofPackage },
  {
    page: "docs/tutorial/pin-and-verify.md",
    begins: "npm install ./rollcall-0.1.0.tgz @modelcontextprotocol/server-everything",
    reason: ofPackage,
  },
  { page: "README.md", begins: "npm ci", reason: installs },
  { page: "README.md", begins: "npm start", reason: installs },
  { page: "README.md", begins: "npx wrangler secret put JWT_SECRET", reason: needsAccount },
  {
    page: "docs/explanation/performance/peers.md",
    begins: "npm run bench -- --peer official=http://127.0.0.1:8080",
    reason: needsPeer,
  },
  {
    page: "docs/explanation/performance/peers.md",
    begins: "npm run bench -- --peer NAME=peer.json",
    reason: needsPeer,
  },
  { page: "docs/how-to/subscriptions.md", begins: "npm start -- --var ALLOW_LOOPBACK_FETCH=true", reason: installs },
  {
    page: "examples/README.md",
    begins: 'curl -N $ROLLCALL_URL/mcp/subscription/stream -H "X-MCP-Session-ID: $SESSION"',
    reason: staysOpen,
  },
  { page: "CONTRIBUTING.md", begins: "npm ci                 # everything, Node included", reason: runsTests },
  { page: "CONTRIBUTING.md", begins: "npx vitest run test/worker/registry/publish.test.ts", reason: runsTests },
];
