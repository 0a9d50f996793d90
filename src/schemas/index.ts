export * from "./capability.ts";
export * from "./hook.ts";
export * from "./manifest.ts";
export * from "./names.ts";
export * from "./negotiation.ts";
export * from "./server-config.ts";
export * from "./subscription.ts";
export * from "./views.ts";
