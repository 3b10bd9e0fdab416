import { mentions } from "../../../../domain/recovery/mentions.ts";
import { lookUpTarget } from "../../../../proof/fuzz/targets/erasure-look-up.ts";

/** Looks at the text where it should at what that says: an escaped character hides an id. */
export const target = lookUpTarget({
  mentions: (subjects, also) => {
    const names = mentions(subjects, also);
    return (text, ...rest) => subjects.some(({ id }) => text.includes(id)) && names(text, ...rest);
  },
});
