import type { Page } from "./page.ts";
import { capabilityPages } from "./pages/capability.tsx";
import { changesPages } from "./pages/changes.tsx";
import { connectPages } from "./pages/connect.tsx";
import { differencePages } from "./pages/difference.tsx";
import { docsPages } from "./pages/docs.tsx";
import { filePages } from "./pages/files.tsx";
import { historyPages } from "./pages/history.tsx";
import { homePages } from "./pages/home.tsx";
import { flagPages } from "./pages/manage/flags.tsx";
import { hookPages } from "./pages/manage/hook.tsx";
import { hooksPages } from "./pages/manage/hooks.tsx";
import { manageServerPages } from "./pages/manage/server.tsx";
import { subscriptionPages } from "./pages/manage/subscription.tsx";
import { subscriptionsPages } from "./pages/manage/subscriptions.tsx";
import { managePages } from "./pages/manage/tenant.tsx";
import { mePages } from "./pages/me.tsx";
import { negotiatePages } from "./pages/negotiate.tsx";
import { restorePages } from "./pages/restore.tsx";
import { searchPages } from "./pages/search.tsx";
import { serverPages } from "./pages/server.tsx";
import { serversPages } from "./pages/servers.tsx";
import { signInPages } from "./pages/sign-in.tsx";
import { statusPages } from "./pages/status.tsx";

/** Every page of the console. A test compares their paths with those of the operations. */
export const pages: readonly Page[] = [
  ...homePages,
  ...serversPages,
  // Before the sections of a server, whose path would take its place.
  ...connectPages,
  ...historyPages,
  ...differencePages,
  ...restorePages,
  ...serverPages,
  ...capabilityPages,
  ...searchPages,
  ...negotiatePages,
  ...changesPages,
  ...managePages,
  ...manageServerPages,
  ...flagPages,
  ...hooksPages,
  ...hookPages,
  ...subscriptionsPages,
  ...subscriptionPages,
  ...docsPages,
  ...statusPages,
  ...mePages,
  ...signInPages,
  ...filePages,
];
