/**
 * The network that an IP address counts as for rate limits: an IPv4 address itself, and the first 64 bits of an IPv6
 * address, because one host usually has a whole /64. Text that is no address counts by its
 * beginning: longer names would only fill the tables of the limits.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address.slice(0, longestName);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail, ...more] = (address.split("%")[0] ?? "").toLowerCase().split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: Math.max(0, zeros) }, () => "0"), ...right];
  const isAddress = more.length === 0 && groups.length === 8 && groups.every((group) => /^[0-9a-f]{1,4}$/.test(group));
  if (!isAddress) return address.slice(0, longestName);
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}

const longestName = 64;
