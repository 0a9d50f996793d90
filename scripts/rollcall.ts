/** The command line from its sources, in the folder where npm was called. */
const folder = process.env["INIT_CWD"];
if (folder !== undefined) process.chdir(folder);
await import("../packages/rollcall/src/cli/rollcall.ts");

export {};
