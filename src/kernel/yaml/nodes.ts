import {
  type Alias,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  type Node,
  type Pair,
  type YAMLMap,
} from "yaml";
import type { Issue } from "../issue.ts";
import type { Steps } from "../pace/pace.ts";
import type { DividedCollections } from "./compose.ts";

/** What can be wrong with nodes that were composed. */
export interface NodeFault {
  message: string;
  offset: number | undefined;
}

/** What each alias stands for: the last node before it with that anchor. */
export type AliasTargets = Map<Alias, Node>;

interface InspectedNodes {
  targets: AliasTargets;
  /** Approximate length of the text with every alias expanded. */
  size: number;
  /** The first key that JSON cannot represent: a duplicate, or one that is not a scalar. */
  fault?: NodeFault;
}

const nodesPerStep = 500;
const unitsPerNode = 2;

/** Puts divided collections together, finds what aliases stand for, and checks keys: one walk in the order of the text. */
export function* inspectSteps(root: Node, length: number, divided: DividedCollections): Steps<InspectedNodes> {
  const anchors = new Map<string, Node>();
  const targets: AliasTargets = new Map();
  const uses: AliasUse[] = [];
  let fault: NodeFault | undefined;
  const frames: { items: readonly unknown[]; at: number }[] = [{ items: [root], at: 0 }];
  for (let visited = 1; ; visited += 1) {
    if (visited % nodesPerStep === 0) yield nodesPerStep * unitsPerNode;
    const frame = frames.at(-1);
    if (frame === undefined) break;
    if (frame.at === frame.items.length) {
      frames.pop();
      continue;
    }
    const node = frame.items[frame.at];
    frame.at += 1;
    if (isPair(node)) frames.push({ items: [node.key, node.value], at: 0 });
    if (!isNode(node)) continue;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) continue;
      targets.set(node, target);
      uses.push({ offset: node.range?.[0] ?? 0, target });
      continue;
    }
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    if (!isCollection(node)) continue;
    const whole = node.srcToken && divided.get(node.srcToken);
    if (whole !== undefined) {
      node.items = [...whole.parts.flat(), ...node.items];
      if (node.range) node.range = [whole.offset, node.range[1], node.range[2]];
    }
    if (isMap(node)) {
      fault ??= invalidKey(node);
      yield node.items.length;
    }
    frames.push({ items: node.items, at: 0 });
  }
  return { targets, size: length + sizeOfUses(uses), fault };
}

interface AliasUse {
  offset: number;
  target: Node;
}

/** What the targets of aliases add to the text. */
function sizeOfUses(uses: readonly AliasUse[]): number {
  const sizes = new Map<Node, number>();
  const sizeOf = (node: Node): number => {
    const known = sizes.get(node);
    if (known !== undefined) return known;
    // Until its size is known, a node counts as infinite, so that a node with an alias to itself is infinite.
    sizes.set(node, Number.POSITIVE_INFINITY);
    const [start = 0, end = 0] = node.range ?? [];
    const size = end - start + added(uses.filter(({ offset }) => offset >= start && offset < end));
    sizes.set(node, size);
    return size;
  };
  const added = (inside: readonly AliasUse[]): number => inside.reduce((size, { target }) => size + sizeOf(target), 0);
  return added(uses);
}

function invalidKey(map: YAMLMap): NodeFault | undefined {
  const seen = new Set<string>();
  for (const { key } of map.items) {
    const offset = isNode(key) ? key.range?.[0] : undefined;
    if (key !== null && !isScalar(key)) {
      return { message: "a key must be a plain value, neither an alias nor a collection", offset };
    }
    const name = nameOf(key);
    if (seen.has(name)) return { message: `the key ${JSON.stringify(name.slice(0, 100))} is not unique`, offset };
    seen.add(name);
  }
  return undefined;
}

function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value ?? "") : "";
}

interface Frame {
  items: readonly unknown[];
  at: number;
  isMap: boolean;
}

/** The nodes as JSON text, with aliases expanded. Throws if JSON cannot say a value. */
export function* jsonTextSteps(root: Node, targets: AliasTargets, issues: Issue[]): Steps<string> {
  let text = "";
  const frames: Frame[] = [];
  /** Writes a scalar, or opens a collection. */
  const write = (value: unknown, key: string) => {
    const node = isAlias(value) ? targetOf(value, targets) : value;
    if (isCollection(node)) {
      const isObject = isMap(node);
      text += isObject ? "{" : "[";
      frames.push({ items: node.items, at: 0, isMap: isObject });
    } else text += isScalar(node) ? scalarText(node.value, key, issues) : "null";
  };
  write(root, "");
  for (let written = 1; ; written += 1) {
    if (written % nodesPerStep === 0) yield nodesPerStep * unitsPerNode;
    const frame = frames.at(-1);
    if (frame === undefined) return text;
    const { items, at, isMap: isObject } = frame;
    if (at === items.length) {
      text += isObject ? "}" : "]";
      frames.pop();
      continue;
    }
    if (at > 0) text += ",";
    frame.at += 1;
    if (isObject) {
      const { key, value } = items[at] as Pair;
      const name = nameOf(key);
      text += `${JSON.stringify(name)}:`;
      write(value, name);
    } else write(items[at], String(at));
  }
}

function targetOf(alias: Alias, targets: AliasTargets): Node {
  const target = targets.get(alias);
  if (target === undefined) {
    throw new ReferenceError(`Unresolved alias (the anchor must be set before the alias): ${alias.source}`);
  }
  return target;
}

/** Reports an integer that loses digits. */
function scalarText(value: unknown, key: string, issues: Issue[]): string {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`${JSON.stringify(key)} is not a finite number`);
  }
  if (typeof value !== "bigint") return JSON.stringify(value ?? null);
  const number = Number(value);
  if (!Number.isFinite(number)) throw new TypeError(`${JSON.stringify(key)} is larger than any number`);
  if (BigInt(number) !== value && issues.length < 100) {
    const message = `${JSON.stringify(key.slice(0, 100))} is an integer that loses digits`;
    issues.push({ path: "", rule: "lossy-number", message });
  }
  return JSON.stringify(number);
}
