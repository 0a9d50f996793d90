import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { catalog } from "../../client/read.ts";
import type { Context } from "../context.ts";
import { cacheFolder } from "../settings/paths.ts";
import { oneOf } from "./search.ts";

const scripts: Record<string, string> = {
  bash: `_rollcall() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(rollcall __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _rollcall rollcall`,
  zsh: `#compdef rollcall
_rollcall() {
  local -a found
  found=("\${(@f)$(rollcall __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [ -n "$found[1]" ]; then compadd -a found; else _files; fi
}
compdef _rollcall rollcall`,
  fish: `function __rollcall_complete
  set -l words (commandline -opc) (commandline -ct)
  rollcall __complete $words[2..-1] 2>/dev/null
end
complete -c rollcall -a '(__rollcall_complete)'`,
};

export async function completion(context: Context, [shell = ""]: string[]): Promise<void> {
  oneOf("SHELL", shell, Object.keys(scripts));
  context.out.json({ shell, script: scripts[shell] });
  context.out.print(scripts[shell] ?? "");
}

/** One candidate a line for the last word. Never fails: a shell shows nothing then. */
export async function complete(context: Context, program: Command, words: string[]): Promise<void> {
  const last = words.at(-1) ?? "";
  let command = program;
  let isName = true;
  for (const word of words.slice(0, -1)) {
    const next = isName ? command.commands.find((one) => one.name() === word) : undefined;
    if (next !== undefined) command = next;
    else if (!word.startsWith("-")) isName = false;
  }
  const candidates = last.startsWith("-")
    ? [...command.options, ...program.options].map(({ long }) => long ?? "")
    : [
        ...(isName ? command.commands.map((one) => one.name()).filter((name) => !name.startsWith("__")) : []),
        ...(command.usage().includes("T/NAME") ? await serverNames(context) : []),
      ];
  const fitting = candidates.filter((one) => one !== "" && one.startsWith(last));
  if (fitting.length > 0) process.stdout.write(`${fitting.join("\n")}\n`);
}

const freshMs = 60_000;

/** Names of servers, kept for a minute: a shell asks with every key. */
async function serverNames(context: Context): Promise<string[]> {
  const file = join(cacheFolder(), "servers.json");
  const { url } = context.target();
  try {
    const kept = JSON.parse(readFileSync(file, "utf8")) as { url: string; at: number; names: string[] };
    if (kept.url === url && Date.now() - kept.at < freshMs) return kept.names;
  } catch {}
  try {
    const page = await catalog(context.connection(), { limit: 100 }, { signal: AbortSignal.timeout(1_500) });
    const names = page.items.map(({ tenant, name }) => `${tenant}/${name}`).filter((name) => /^[\w./-]+$/.test(name));
    mkdirSync(cacheFolder(), { recursive: true });
    writeFileSync(file, JSON.stringify({ url, at: Date.now(), names }));
    return names;
  } catch {
    return [];
  }
}
