import { badBody, denied, notFound, type Operation, subscription } from "../http/operation.ts";

const noSubscription = { 404: "No such subscription." };

/** Telling of changes, and being told. */
export const tellingOperations: Record<string, Record<string, Operation>> = {
  "/api/subscriptions": {
    get: {
      id: "listSubscriptions",
      summary: "Who is told of a tenant's changes",
      query: { tenant: "Whose." },
      answers: { 200: "The subscriptions, without their secrets.", 400: "A parameter is wrong.", ...denied },
    },
    post: {
      id: "createSubscription",
      summary: "Be told of a tenant's changes by webhook",
      body: "new-subscription",
      answers: {
        201: "Subscribed; the secret is shown this once.",
        ...badBody,
        ...denied,
        409: "The tenant has as many as it may have.",
      },
    },
  },
  [subscription]: {
    get: {
      id: "getSubscription",
      summary: "A subscription, its state and its recent attempts",
      answers: { 200: "The subscription.", 400: "A name is not valid.", ...denied, ...noSubscription },
    },
    patch: {
      id: "changeSubscription",
      summary: "Stop it, start it again, or send it elsewhere",
      body: "subscription-change",
      answers: { 200: "Changed.", ...badBody, ...denied, ...noSubscription },
    },
    delete: {
      id: "deleteSubscription",
      summary: "Delete a subscription and what waits for it",
      answers: { 200: "Deleted.", 400: "A name is not valid.", ...denied, ...noSubscription },
    },
  },
  [`${subscription}/rotate`]: {
    post: {
      id: "rotateSubscriptionSecret",
      summary: "Make a new secret; the earlier one signs as well for a while",
      body: "secret-rotation",
      answers: { 200: "The new secret, shown this once.", ...badBody, ...denied, ...noSubscription },
    },
  },
  [`${subscription}/test`]: {
    post: {
      id: "testSubscription",
      summary: "Send one test message now",
      answers: { 200: "What came of it.", 400: "A name is not valid.", ...denied, ...noSubscription },
    },
  },
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
  "/api/changes/{tenant}": {
    get: {
      id: "listChanges",
      summary: "A tenant's log of changes, oldest first; with `Accept: text/event-stream` as it grows",
      query: {
        since: "Entries after this sequence number.",
        limit: "1 to 1000; not for a stream.",
      },
      headers: ["Rollcall-Min-Generation", "Last-Event-ID"],
      answers: {
        200: "Entries, each with its hash and that of the one before, and the head of the log; or a stream of them.",
        400: "A parameter is wrong, or a stream would start after the end of the log.",
        ...denied,
        412: "The tenant has not reached that generation.",
      },
    },
  },
};
