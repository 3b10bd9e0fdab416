import type { Target } from "../../../../proof/fuzz/target.ts";

export const target: Target = {
  promise: "it ends",
  seeds: ["seed"],
  check: (input) => {
    while (input.length > 4);
  },
};
