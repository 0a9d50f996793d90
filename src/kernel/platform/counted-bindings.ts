import type { Usage } from "./usage.ts";

/** Counts every call of a stub. A call costs hundreds of times more than the proxy. */
export function countedStub<T extends object>(stub: T, operations: Usage): T {
  return new Proxy(stub, {
    get(target, name) {
      // Called on the stub itself: platform objects reject a proxy as `this`.
      const member = Reflect.get(target, name, target);
      if (typeof name === "symbol" || typeof member !== "function") return member;
      return (...args: unknown[]) => {
        operations.objectCalls += 1;
        return Reflect.apply(member, target, args);
      };
    },
  });
}

/** The KV methods in use. */
type CountedKv = Pick<KVNamespace, "get" | "put" | "delete" | "list">;

/** Counts every KV read and write, failed ones included. */
export function countedKv(kv: KVNamespace, operations: Usage): CountedKv {
  const get = (...args: Parameters<KVNamespace["get"]>) => {
    operations.kvReads += 1;
    return kv.get(...args);
  };
  return {
    // One function for all overloads of `get`, which TypeScript cannot express without a cast.
    get: get as unknown as KVNamespace["get"],
    list(...args) {
      operations.kvReads += 1;
      return kv.list(...args);
    },
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
