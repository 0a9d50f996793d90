import type { SourceBounds, SourceRequest } from "../../../../src/sources/contract.ts";
import { introspectSource } from "../../../../src/sources/introspect.ts";

/** Reads a source inside a real Worker and tells what came of it: introspection lives nowhere else. */
export default {
  async fetch(request: Request): Promise<Response> {
    const { source, bounds, now } = (await request.json()) as {
      source: SourceRequest;
      bounds?: Partial<SourceBounds>;
      now?: number;
    };
    const result = await introspectSource(source, {
      fetch: (input, init) => fetch(input, init),
      now: () => now ?? Date.now(),
      ...(bounds === undefined ? {} : { bounds }),
    });
    return Response.json(result);
  },
};
