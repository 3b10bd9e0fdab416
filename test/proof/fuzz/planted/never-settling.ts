import type { Target } from "../../../../proof/fuzz/target.ts";

export const target: Target = {
  promise: "it ends",
  seeds: ["seed"],
  check: (input) => (input.length > 4 ? new Promise(() => undefined) : Promise.resolve()),
};
