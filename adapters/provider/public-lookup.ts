import { type LookupAddress, lookup as resolveName } from "node:dns";
import type { LookupFunction } from "node:net";
import { permanent } from "../../domain/core/failures.ts";
import { isPrivateAddress } from "../../domain/core/private-addresses.ts";

/** All addresses of a name, as `dns.lookup` gives them. */
export type ResolveAll = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export const privateAddressReason =
  "the provider's address is private; correct provider.baseUrls, or set provider.allowPrivateAddresses to true";

/**
 * Resolves names for a connection and refuses one of which any address is private. What it answers is what is
 * connected to: no second look at the name lies between the check and its use.
 */
export function publicLookup(resolve: ResolveAll = resolveName): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname, { all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) callback(error, []);
      else if (first === undefined || addresses.some(({ address }) => isPrivateAddress(address))) {
        callback(permanent(privateAddressReason), []);
      } else if (all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
