import { BlockList, isIP } from "node:net";
import { permanent } from "./failures.ts";

/**
 * Networks that are not part of the internet (IANA's special-purpose address registries). A call to them
 * reaches this machine, the operator's own network or, at 169.254.0.0/16, a cloud's credentials.
 */
const privateIpv4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

const privateIpv6 = [
  // Unspecified, loopback, and deprecated IPv4-compatible addresses.
  ["::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const;

/** NAT64 maps an IPv6 address to the IPv4 address in its last 32 bits. */
const nat64 = { prefix: "64:ff9b::", bits: 96 } as const;

const networks = new BlockList();
for (const [network, bits] of privateIpv4) {
  // BlockList itself handles IPv4-mapped addresses such as ::ffff:127.0.0.1.
  networks.addSubnet(network, bits);
  networks.addSubnet(`${nat64.prefix}${network}`, nat64.bits + bits, "ipv6");
}
for (const [network, bits] of privateIpv6) networks.addSubnet(network, bits, "ipv6");

/** Whether an IP address is private, link-local or otherwise not on the internet; true if it is invalid. */
export function isPrivateAddress(address: string): boolean {
  const [bare = ""] = address.split("%", 1);
  const version = isIP(bare);
  return version === 0 || networks.check(bare, version === 4 ? "ipv4" : "ipv6");
}

/**
 * Whether a URL's host is a private address, or a name that always means this machine. Other names are
 * checked after they are resolved, at the time of the call.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPrivateAddress(host);
  return host === "localhost" || host.endsWith(".localhost");
}

/**
 * Parses a list of addresses and networks (`203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`). Without a list,
 * all addresses are allowed.
 * @returns whether calls from an address are accepted
 * @throws permanent failure if an entry is neither
 */
export function parseSourceAddresses(value: unknown): (address: string) => boolean {
  if (value === undefined) return () => true;
  if (!Array.isArray(value)) throw permanent("sourceAddresses: expected a list");
  const allowed = new BlockList();
  for (const entry of value) add(allowed, String(entry));
  return (address) => {
    const family = familyOf(address);
    return family !== undefined && allowed.check(address, family);
  };
}

function add(list: BlockList, entry: string): void {
  const [address = "", bits] = entry.split("/");
  const family = familyOf(address);
  if (family === undefined) throw permanent(`sourceAddresses: ${entry} is no address`);
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? "ipv4" : "ipv6";
}
