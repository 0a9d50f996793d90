import { badBody, type Described, denied, reading, writing } from "../http/described.ts";

const indexAnswers = {
  200: "The index.",
  304: "Not changed.",
  400: "A name is not valid.",
  ...denied,
  403: "The token lacks the tenant or the scope, or the variant is not advertised.",
  404: "No such server or variant.",
  412: "The tenant has not reached that generation.",
  413: "It is larger than one answer may be; the message names narrower ones.",
};

export const indexOperations: Record<string, Record<string, Described>> = {
  "/api/index/{tenant}/advertise": {
    get: {
      id: "getAdvertise",
      summary: "Which variants of a tenant's capability index are advertised",
      headers: ["Rollcall-Min-Generation", "If-None-Match"],
      answers: {
        200: "The settings and what they come to.",
        304: "Not changed.",
        400: "A name is not valid.",
        ...denied,
        412: "The tenant has not reached that generation.",
      },
    },
    put: {
      id: "setAdvertise",
      summary: "Say which variants of a tenant's capability index are advertised",
      body: "advertise-settings",
      headers: writing,
      answers: { 200: "Said.", ...badBody, ...denied, 412: "The settings changed since the tag in If-Match." },
    },
  },
  "/api/index/{tenant}/budget": {
    post: {
      id: "fitIndex",
      summary: "The best capability index that fits a task and a token budget; YAML alone by Accept",
      body: "index-budget-request",
      headers: ["Rollcall-Min-Generation"],
      answers: {
        200: "The text, its tokens, and what is in it at which level of detail.",
        ...badBody,
        ...denied,
        412: "The tenant has not reached that generation.",
      },
      anonymous: true,
    },
  },
  "/api/index/{tenant}/{variant}": {
    get: {
      id: "getTenantIndex",
      summary: "A tenant's capability index: summary or full as YAML, stats as JSON",
      headers: reading,
      answers: indexAnswers,
      anonymous: true,
    },
  },
  "/api/index/{tenant}/{name}/{variant}": {
    get: {
      id: "getServerIndex",
      summary: "A server's capability index: summary or full as YAML, stats as JSON",
      headers: reading,
      answers: indexAnswers,
      anonymous: true,
    },
  },
};
