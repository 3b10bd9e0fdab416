import { BlockList, isIP } from "node:net";
import { permanent } from "./failures.ts";

/** Whether calls from an address are accepted. */
export type IsAllowedSource = (address: string) => boolean;

/**
 * Parses a list of addresses and networks (`203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`). Without a list,
 * all addresses are allowed.
 * @throws permanent failure if an entry is neither
 */
export function parseSourceAddresses(value: unknown): IsAllowedSource {
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
