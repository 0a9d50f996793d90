import { stat } from "node:fs/promises";
import { build, bundlePath } from "./bundle.ts";
import { runCommand } from "./command.ts";

const help = `
Usage: npm run build

Bundles the Worker into dist/, exactly as it would be deployed. Nothing is uploaded.
`;

await runCommand({ help, options: {} }, async () => {
  await build();
  const { size } = await stat(bundlePath);
  console.log(`dist/index.js, ${Math.round(size / 1000)} kB`);
});
