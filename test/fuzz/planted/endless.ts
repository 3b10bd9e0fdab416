import type { Target } from "../../../fuzz/target.ts";

export const target: Target = {
  promise: "it ends",
  seeds: ["seed"],
  check: (input) => {
    while (input.length > 4);
  },
};
