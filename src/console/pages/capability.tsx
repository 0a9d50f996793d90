import type { Child } from "hono/jsx";
import { z } from "zod";
import { shellWord } from "../../connect/words.ts";
import { unwrap } from "../../http/context.ts";
import { server as serverParameters } from "../../http/parameters.ts";
import { definitionFormats } from "../../manifest/model/definitions.ts";
import { loadTokenizer } from "../../manifest/tokens.ts";
import { capabilityText, definitionOfFound, type FoundCapability, readCapability } from "../../registry/capability.ts";
import { itemRecords } from "../../registry/record.ts";
import { capabilityDocument } from "../../registry/views/capability.ts";
import { tabOf } from "../layout/server-frame.tsx";
import { page } from "../page.ts";
import { Code, Json } from "../parts/code.tsx";
import { number } from "../parts/figures.tsx";
import { capabilityHref, Item, itemAnchor } from "../parts/item.tsx";
import { type Kind, kindWords, serverHref } from "../parts/server-row.tsx";
import { clip, text } from "../parts/text.tsx";

const formats = ["json", "yaml", "rtfs", ...definitionFormats] as const;
type Format = (typeof formats)[number];

const labels: Record<Format, string> = {
  json: "JSON",
  yaml: "YAML",
  rtfs: "RTFS",
  mcp: "MCP",
  openai: "OpenAI",
  "openai-chat": "OpenAI chat",
  anthropic: "Anthropic",
};

const capability = page({
  id: "capability",
  path: "/capabilities/{tenant}/{id}",
  parameters: {
    path: { tenant: serverParameters.tenant, id: z.string() },
    query: { format: z.enum(formats).default("json") },
  },

  async get(services, { viewer, path: { tenant, id }, query: { format } }) {
    const found = unwrap(await readCapability(services, viewer.principal, tenant, id));
    const { capability: item, head, generation } = found;
    const record = itemRecords(head)(item);
    const own = capabilityHref(head.tenant, id);
    const isDefinition = (definitionFormats as readonly string[]).includes(format);
    const json = `/api${own}${format === "json" ? "" : `?${isDefinition ? "definitions" : "format"}=${format}`}`;
    const { body, tokens } = await shownAs(found, format);
    const inList = `${serverHref(head)}/${tabOf(item.kind as Kind)}#${encodeURIComponent(itemAnchor(item.key))}`;
    return {
      title: `${clip(item.key, 80)} of ${head.tenant}/${head.name}`,
      nav: "servers",
      same: { json, cli: `show ${head.tenant}/${head.name} ${shellWord(item.key)}` },
      generation,
      source: "object",
      main: (
        <>
          <nav class="crumbs" aria-label="Where you are">
            <a href="/servers">Servers</a> /{" "}
            <a href={`/servers?tenant=${encodeURIComponent(head.tenant)}`}>{head.tenant}</a> /{" "}
            <a href={serverHref(head)}>{head.name}</a> / <a href={inList}>{kindWords[item.kind as Kind][1]}</a>
          </nav>
          <Item item={item} record={record} tenant={head.tenant} whole />
          <nav class="tabs" aria-label="Formats" id="formats">
            {formats.map((name) => (
              <a href={`${own}?format=${name}#formats`} aria-current={name === format ? "page" : undefined}>
                {labels[name]}
              </a>
            ))}
          </nav>
          <section class="block" aria-label={`As ${labels[format]}`}>
            <p class="small mute">
              {tokens !== undefined && `${number(tokens)} tokens as ${labels[format]}. `}
              {isDefinition && "What a model is given: nothing of ours is inside."}
            </p>
            {body}
          </section>
          <section class="block" aria-labelledby="pin-title">
            <h2 class="label" id="pin-title">
              Pin what you have read
            </h2>
            <Code text={pin(found)} what="the command that pins this server" />
          </section>
        </>
      ),
    };
  },
});

function pin({ head: { tenant, name } }: FoundCapability): string {
  return `rollcall pin ${tenant}/${name}   # then rollcall verify in CI`;
}

/** Longer texts are not counted: nobody sends them to a model. */
const maxCounted = 16_000;
/** Longer ones are left to the API: nobody reads them on a page. */
const maxPrinted = 150_000;

async function shownAs(found: FoundCapability, format: Format): Promise<{ body: Child; tokens?: number }> {
  const document = capabilityDocument(found, { hints: false });
  const what = `the capability as ${labels[format]}`;
  const size = JSON.stringify(document).length;
  if (size > maxPrinted) {
    const body = (
      <p>It has {number(size)} characters, too many to print here. “This page for programs” below has the address.</p>
    );
    return { body };
  }
  if (format === "json")
    return { body: <Json of={document} what={what} />, tokens: await count(JSON.stringify(document)) };
  if (format === "yaml" || format === "rtfs") {
    const { text: printed, losses } = capabilityText(format, document);
    const body = (
      <>
        {losses.length > 0 && <p class="warn small">RTFS cannot express: {text(clip(losses.join(", "), 400))}</p>}
        <Code text={printed} what={what} />
      </>
    );
    return { body, tokens: await count(printed) };
  }
  const { definitions, tokens, leftOut } = await definitionOfFound(found, format);
  if (definitions.length > 0) return { body: <Json of={definitions} what={what} />, tokens };
  return { body: <p class="warn">Not sent to a model: {text(leftOut.map(({ message }) => message).join("; "))}.</p> };
}

async function count(printed: string): Promise<number | undefined> {
  return printed.length > maxCounted ? undefined : (await loadTokenizer())(printed);
}

export const capabilityPages = [capability];
