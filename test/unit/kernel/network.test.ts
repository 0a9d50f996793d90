import { expect, it } from "vitest";
import { networkOf } from "../../../src/kernel/network.ts";

it.each([
  ["203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["", ""],
  ["1:2:3", "1:2:3"],
  ["1::2::3", "1::2::3"],
  ["2001:db8:zzzz::1", "2001:db8:zzzz::1"],
])("%j counts as %j", (address, expected) => {
  expect(networkOf(address)).toBe(expected);
});
