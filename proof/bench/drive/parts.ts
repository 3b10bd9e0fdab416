import type { LocalFunction } from "@income-events/local-stack/stack.ts";
import type { Part } from "../implementations.ts";

/** Which part of the way a function is; undefined where it is none. */
export function partOf({ logicalId }: Pick<LocalFunction, "logicalId">): Part | undefined {
  if (logicalId.startsWith("RelayChanges")) return "relay";
  if (logicalId.startsWith("FetchData")) return "fetch";
  if (logicalId.includes("ReceiveFunction")) return "receive";
  return logicalId.includes("StoreFunction") ? "store" : undefined;
}
