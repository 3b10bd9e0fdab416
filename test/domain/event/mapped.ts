import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import { type KindMapping, mapPayload } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";

export const accountId = "5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10";

export const userId = "0d9bdb0e-27cf-4f4a-9c6e-6a1d8f0e7a55";

export const anyIds: KindMapping = { ...defaultMapping.accounts, ids: "any" };

export const map = (payload: unknown, mapping: KindMapping = defaultMapping.accounts) =>
  mapPayload(mapping, payload, jmespathSearch);

/** Why a payload is refused; a refusal that is not permanent is a bug. */
export function reasonOf(
  payload: unknown,
  mapping: KindMapping = defaultMapping.accounts,
): string | undefined {
  try {
    map(payload, mapping);
    return undefined;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "permanent") throw error;
    return failure.reason;
  }
}
