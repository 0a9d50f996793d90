import { pageHeaders } from "./respond.tsx";

/** For a browser at a registry that cannot start: no page of its own works then, so this one needs nothing. */
export function notConfiguredPage(message: string): Response {
  const html = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Not configured · Rollcall</title>
      </head>
      <body>
        <main>
          <h1>The registry is not configured</h1>
          <p>{message}</p>
          <p>Operator: mend the setting that is named, and deploy again. Everybody else: try again later.</p>
        </main>
      </body>
    </html>
  );
  const headers = { ...pageHeaders, "Cache-Control": "no-store" };
  return new Response(`<!doctype html>${html}`, { status: 503, headers });
}
