import { z } from "zod";
import { AdvertiseSettings, IndexBudgetRequest } from "../capability-index/schema.ts";
import { HookChange, HookEvent, HookRequest, KeyRotation } from "../hooks/schema.ts";
import { Generator, Operation, Prompt, Resource, ResourceTemplate, Tool } from "../manifest/schema/capability.ts";
import { Manifest } from "../manifest/schema/manifest.ts";
import { ServerJson, StatusUpdate } from "../official/schema.ts";
import { ItemSwitch, ServerConfig } from "../registry/schema.ts";
import {
  GeneratorsView,
  OperationsView,
  PreflightRequest,
  ResourcesView,
  ServerView,
  ToolsView,
} from "../registry/views/schema.ts";
import { ContextRequest, NegotiationRequest, ResumeRequest } from "../sessions/schema.ts";
import { NewSubscription, SecretRotation, SubscriptionChange } from "../subscriptions/schema.ts";

/** Published schemas by file name: `manifest` is `schemas/manifest.schema.json`. */
export const published = {
  "server-config": ServerConfig,
  manifest: Manifest,
  tool: Tool,
  prompt: Prompt,
  resource: Resource,
  "resource-template": ResourceTemplate,
  generator: Generator,
  operation: Operation,
  "item-switch": ItemSwitch,
  "server-view": ServerView,
  "tools-view": ToolsView,
  "resources-view": ResourcesView,
  "generators-view": GeneratorsView,
  "operations-view": OperationsView,
  "preflight-request": PreflightRequest,
  "negotiation-request": NegotiationRequest,
  "context-request": ContextRequest,
  "resume-request": ResumeRequest,
  "hook-request": HookRequest,
  "hook-change": HookChange,
  "hook-event": HookEvent,
  "key-rotation": KeyRotation,
  "new-subscription": NewSubscription,
  "subscription-change": SubscriptionChange,
  "secret-rotation": SecretRotation,
  "advertise-settings": AdvertiseSettings,
  "index-budget-request": IndexBudgetRequest,
  "server-json": ServerJson,
  "status-update": StatusUpdate,
} as const satisfies Record<string, z.ZodType>;

/** JSON Schemas that reference each other by `uri(name)`. They describe input as sent, not as stored. */
export function jsonSchemas(uri: (name: string) => string): Record<string, Record<string, unknown>> {
  const registry = z.registry<{ id: string; title: string }>();
  for (const [id, schema] of Object.entries(published)) registry.add(schema, { id, title: id });
  return z.toJSONSchema(registry, { uri, io: "input" }).schemas as Record<string, Record<string, unknown>>;
}
