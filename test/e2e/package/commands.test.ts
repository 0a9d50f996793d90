import { clientSuite } from "./client.ts";
import { connectSuite } from "./connect.ts";
import { hostileSuite } from "./hostile.ts";
import { buildInstalled } from "./installed.ts";
import { outputSuite } from "./outputs.ts";
import { publisherSuite } from "./publisher.ts";
import { shareRegistry } from "./shared.ts";

/** The built commands and the client library. A file of its own, so that it runs beside the tests of the tarball. */

const shared = shareRegistry(buildInstalled);

hostileSuite(shared);
outputSuite(shared);
clientSuite(shared);
publisherSuite(shared);
connectSuite(shared);
