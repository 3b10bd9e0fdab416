import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import { type KindMapping, mapPayload } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";

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
    if (failure.type !== "permanent") throw error;
    return failure.reason;
  }
}
