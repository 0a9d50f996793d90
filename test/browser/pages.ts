/** Pages that the matrix looks at: for everybody, and what signing in adds. */

export const publicPages = [
  "/",
  "/servers",
  "/servers?kind=tool&status=active",
  "/servers?kind=prompt&status=deprecated",
  "/servers/demo/weather",
  "/servers/demo/weather/tools",
  "/servers/demo/library/prompts",
  "/servers/demo/library/resources",
  "/servers/demo/almanac",
  "/servers/demo/weather/connect",
  "/servers/demo/files/connect?client=vscode",
  "/capabilities/demo/mcp.weather.get_forecast",
  "/capabilities/demo/mcp.weather.get_forecast?format=openai",
  "/search",
  "/search?task=send+the+forecast+to+my+team%2C+then+file+an+issue&budget=300",
  "/search?task=will+it+rain&definitions=anthropic",
  "/search?task=xyzzy+plugh",
  "/search?task=rain&budget=lots",
  "/negotiate",
  "/docs",
  "/docs/searchCapabilities?try=yes&query.task=will+it+rain&query.limit=2",
  "/docs/publishManifest",
  "/docs/nothing",
  "/status",
  "/sign-in",
  "/nothing/here",
  "/servers/demo/nobody",
];

/** What only an admin sees. */
export const adminPages = ["/status", "/changes"];

export const memberPages = [
  "/",
  "/servers",
  "/servers/demo/shop",
  "/servers/demo/shop/operations",
  "/servers/demo/suspicious/tools",
  "/servers/demo/suspicious/connect",
  "/servers/demo/compose/generators",
  "/capabilities/demo/mcp.suspicious.translate_text",
  "/servers/elsewhere/nothing",
  "/negotiate",
  "/changes/demo",
  "/changes/demo?class=breaking&server=weather",
  "/changes/elsewhere",
  "/docs/registerHook",
  "/docs/listChanges?try=yes&path.tenant=demo&query.limit=2",
  "/me",
];
