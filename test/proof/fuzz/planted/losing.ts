import { EventLost, type Target } from "../../../../proof/fuzz/target.ts";

export const target: Target = {
  promise: "it loses nothing",
  seeds: ["seed"],
  check: async (input) => {
    if (input.length > 4) throw new EventLost("nowhere");
  },
};
