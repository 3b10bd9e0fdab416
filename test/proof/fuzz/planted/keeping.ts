import type { Target } from "../../../../proof/fuzz/target.ts";

export const target: Target = { promise: "it does nothing", seeds: ["seed"], check: () => undefined };
