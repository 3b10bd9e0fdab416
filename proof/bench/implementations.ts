/** Our pipeline and its peers. All have the same functions behind the same queues. */
export const implementations = ["ours", "powertools", "plain", "floor"] as const;
export type Implementation = (typeof implementations)[number];
export type Peer = Exclude<Implementation, "ours">;

/** The functions in an event's path, in order. */
export const parts = ["receive", "store", "relay", "fetch"] as const;
export type Part = (typeof parts)[number];

/** Names of the implementations in tables. */
export const titles: Readonly<Record<Implementation, string>> = {
  ours: "ours",
  powertools: "P1 (Powertools)",
  plain: "P2 (plain)",
  floor: "Floor",
};

export function byParts<Figure>(of: (part: Part) => Figure): Readonly<Record<Part, Figure>> {
  return { receive: of("receive"), store: of("store"), relay: of("relay"), fetch: of("fetch") };
}

export function sumOfParts(of: (part: Part) => number): number {
  return parts.reduce((sum, part) => sum + of(part), 0);
}
