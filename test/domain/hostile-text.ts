import fc from "fast-check";

/** Ids as somebody writes them who means harm: of the characters that join and escape parts of keys, and of any others. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({
    unit: fc.constantFrom("a", "b", "/", "#", "%", "2", "F", ".", "..", "é", "\\", '"'),
    minLength: 1,
    maxLength: 8,
  }),
  fc.string({ unit: "binary", minLength: 1 }),
);
