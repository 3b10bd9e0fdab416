import { canonicalId } from "../../../../domain/event/canonical-id.ts";
import { lookUpTarget } from "../../../../proof/fuzz/targets/erasure-look-up.ts";

/** Drops a leading zero, one each time. */
export const target = lookUpTarget({ canonicalId: (id) => canonicalId(id.replace(/^0/, "")) });
