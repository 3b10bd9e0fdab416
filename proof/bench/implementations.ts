/** Who is measured: our pipeline, and what stands beside it. Each has the same functions behind the same queues. */
export const implementations = ["ours", "powertools", "plain", "floor"] as const;
export type Implementation = (typeof implementations)[number];
export type Peer = Exclude<Implementation, "ours">;

/** The functions on the way of an event, in its order. */
export const parts = ["receive", "store", "relay", "fetch"] as const;
export type Part = (typeof parts)[number];

/** How the table of results names an implementation. */
export const titles: Readonly<Record<Implementation, string>> = {
  ours: "ours",
  powertools: "P1 (Powertools)",
  plain: "P2 (plain)",
  floor: "Floor",
};
