import type { Target } from "../../../../proof/fuzz/target.ts";

const kept: Uint8Array[] = [];

export const target: Target = {
  promise: "it forgets",
  seeds: ["seed"],
  check: () => void kept.push(new Uint8Array(5_000)),
};
