const pattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/i;

/**
 * Parses an RFC 3339 time to epoch milliseconds; undefined for anything else, including a day that its month does not
 * have. Digits past the milliseconds are cut off, or rounded up if the time is a lower bound that must exclude
 * everything earlier.
 */
export function parseRfc3339(text: string, rounding: "down" | "up" = "down"): number | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  const [, , , , , , , fraction = "", sign, offsetHours = "0", offsetMinutes = "0"] = match;
  // A leap second (:60) is read as the first moment of the next minute.
  if (hour > 23 || minute > 59 || second > 60 || Number(offsetHours) > 23 || Number(offsetMinutes) > 59)
    return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const milliseconds =
    Number(fraction.slice(0, 3).padEnd(3, "0")) + (rounding === "up" && /[1-9]/.test(fraction.slice(3)) ? 1 : 0);
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === "-" ? -1 : 1);
  return date.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1_000 + milliseconds;
}
