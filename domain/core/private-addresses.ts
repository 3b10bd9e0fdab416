import { BlockList, isIP } from "node:net";

/**
 * Networks that no provider on the internet answers from (IANA's registries of special-purpose addresses): a call
 * that ends there reaches this machine, the operator's own network or, at 169.254.0.0/16, a cloud's credentials.
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
  // Unspecified, loopback, and IPv4 addresses in a form that is out of use.
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

/** Through NAT64 an IPv6 address reaches the IPv4 address in its last 32 bits. */
const nat64 = { prefix: "64:ff9b::", bits: 96 } as const;

const networks = new BlockList();
for (const [network, bits] of privateIpv4) {
  // The list itself looks into addresses such as ::ffff:127.0.0.1.
  networks.addSubnet(network, bits);
  networks.addSubnet(`${nat64.prefix}${network}`, nat64.bits + bits, "ipv6");
}
for (const [network, bits] of privateIpv6) networks.addSubnet(network, bits, "ipv6");

/** Whether an IP address is private, link-local or otherwise not of the internet; what is no address counts so. */
export function isPrivateAddress(address: string): boolean {
  const [bare = ""] = address.split("%", 1);
  const version = isIP(bare);
  return version === 0 || networks.check(bare, version === 4 ? "ipv4" : "ipv6");
}

/**
 * Whether a URL's host is a private address, or a name that always means this machine. Other names are evaluated by
 * what they resolve to, when they are called.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPrivateAddress(host);
  return host === "localhost" || host.endsWith(".localhost");
}
