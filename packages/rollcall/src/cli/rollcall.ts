#!/usr/bin/env node
import { main } from "./main.ts";

// Not process.exit: what was written to a pipe must arrive first.
process.exitCode = await main(process.argv.slice(2));
