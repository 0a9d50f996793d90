import { badBody, type Described, denied, subscription } from "../http/described.ts";

const noSubscription = { 404: "No such subscription." };

export const subscriptionsOperations: Record<string, Record<string, Described>> = {
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
};
