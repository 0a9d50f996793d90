import { badBody, type Described, denied, notFound } from "../http/described.ts";

export const hooksOperations: Record<string, Record<string, Described>> = {
  "/api/hooks": {
    post: {
      id: "registerHook",
      summary: "Register an inbound webhook of a server",
      body: "hook-request",
      answers: {
        201: "The hook, its URL, and its secret, shown once.",
        ...badBody,
        ...denied,
        ...notFound,
        409: "Too many.",
      },
    },
    get: {
      id: "listHooks",
      summary: "The hooks of a tenant",
      query: { tenant: "Whose." },
      answers: { 200: "Hooks, without secrets.", 400: "No tenant.", ...denied },
    },
  },
  "/api/hooks/{tenant}/{id}": {
    get: {
      id: "getHook",
      summary: "A hook and its last deliveries",
      answers: { 200: "The hook.", ...denied, 404: "No such hook." },
    },
    patch: {
      id: "changeHook",
      summary: "Switch a hook off or on",
      body: "hook-change",
      answers: { 200: "The hook.", ...badBody, ...denied, 404: "No such hook." },
    },
    delete: {
      id: "deleteHook",
      summary: "Delete a hook, at once everywhere",
      answers: { 200: "Deleted.", ...denied, 404: "No such hook." },
    },
  },
  "/api/hooks/{tenant}/{id}/rotate": {
    post: {
      id: "rotateHook",
      summary: "Give a hook a new secret; the old one stays good for a while",
      body: "key-rotation",
      answers: { 200: "The hook, and its new secret, shown once.", ...badBody, ...denied, 404: "No such hook." },
    },
  },
  "/hooks/{tenant}/{id}": {
    post: {
      id: "receiveEvent",
      summary: "Where a publishing server tells of changes; signed, not authorised",
      body: "hook-event",
      answers: {
        202: "What became of it: applied, unchanged, queued, duplicate or stale.",
        400: "It cannot be read.",
        401: "It could not be verified.",
        403: "The hook may not send this event.",
        409: "There is nothing to read again.",
        410: "The hook is switched off.",
        413: "It is too large.",
        422: "It breaks a rule.",
        429: "Too many events; see Retry-After.",
      },
      anonymous: true,
    },
  },
};
