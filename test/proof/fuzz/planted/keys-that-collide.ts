import { keyPart } from "../../../../domain/core/key-part.ts";
import { lookUpTarget } from "../../../../proof/fuzz/targets/erasure-look-up.ts";

/** Lets an id hold a sign that joins the parts of a key. */
export const target = lookUpTarget({ keyPart: (id) => keyPart(id).replaceAll("%23", "#") });
