import type { Usage } from "./usage.ts";

/** A stub whose every call is counted. A call costs hundreds of times what the proxy does. */
export function countedStub<T extends object>(stub: T, operations: Usage): T {
  return new Proxy(stub, {
    get(target, name) {
      // Called on the stub itself: what the platform made does not answer to a proxy.
      const member = Reflect.get(target, name, target);
      if (typeof name === "symbol" || typeof member !== "function") return member;
      return (...args: unknown[]) => {
        operations.objectCalls += 1;
        return Reflect.apply(member, target, args);
      };
    },
  });
}

/** The verbs of KV that are used. */
export type CountedKv = Pick<KVNamespace, "get" | "put" | "delete">;

/** KV whose every read and write is counted, failed ones too. */
export function countedKv(kv: KVNamespace, operations: Usage): CountedKv {
  const get = (...args: Parameters<KVNamespace["get"]>) => {
    operations.kvReads += 1;
    return kv.get(...args);
  };
  return {
    // One function for every shape of question that KV knows, which a type can only say of each.
    get: get as unknown as KVNamespace["get"],
    put(...args) {
      operations.kvWrites += 1;
      return kv.put(...args);
    },
    delete(...args: [key: string]) {
      operations.kvWrites += 1;
      return kv.delete(...args);
    },
  };
}
