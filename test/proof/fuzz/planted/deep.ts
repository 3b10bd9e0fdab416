import type { Target } from "../../../../proof/fuzz/target.ts";

/** Four bytes must be right: at random that is one input of four thousand million. */
export const target: Target = {
  promise: "it never fails",
  seeds: ["seed"],
  check: (input) => {
    if (input[0] !== 0x66) return;
    if (input[1] !== 0x6f) return;
    if (input[2] !== 0x75) return;
    if (input[3] === 0x72) throw new Error("all four bytes were found");
  },
};
