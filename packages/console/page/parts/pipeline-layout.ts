import type { Happening } from "@income-events/cli/events/event-tail.ts";

/** A box of the picture. */
export type Box = {
  readonly id: string;
  readonly name: string;
  readonly says: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** The name of its queue, as commands give it. */
  readonly queue?: string;
};

export type Flow = { readonly id: string; readonly path: string };
export type Picture = {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly flows: readonly Flow[];
};

const kinds = ["users", "accounts", "endpoints", "company-accounts"] as const;
const row = 70;
const boxHeight = 54;

/** The pipeline, in the order of the data's way, for so many subscribers. */
export function pictureOf(subscribers: readonly string[]): Picture {
  const rows = Math.max(kinds.length, subscribers.length);
  const height = rows * row + 110;
  const middle = (rows * row) / 2 + 4;
  const at = (index: number, of: number) => middle - (of * row) / 2 + index * row + (row - boxHeight) / 2;
  const below = rows * row + 40;
  const side = { width: 184, height: boxHeight };
  const main = { y: middle - 34, height: 68 };
  const provider = { id: "provider", name: "Provider", says: "calls webhooks", x: 12, width: 122, ...main };
  const table = { id: "table", name: "Table", says: "events and documents", x: 470, width: 176, ...main };
  const relay = { id: "relay", name: "Relay", says: "publishes", x: 716, width: 108, ...main };
  const queue = (id: string, says: string, x: number, y: number): Box => {
    return { id, name: id.replace("subscriber/", ""), says, x, y, ...side, queue: id };
  };
  const kindBoxes = kinds.map((kind, index) => queue(kind, "receive → store", 214, at(index, kinds.length)));
  const readers = subscribers.map((name, index) =>
    queue(`subscriber/${name}`, "subscriber", 892, at(index, subscribers.length)),
  );
  const fetch = queue("fetch", "reads documents", 470, below);
  const checks = queue("checks", "unanswered starts", 214, below);
  const erase = queue("erase", "forgets", 892, below);
  const flows = [
    ...kindBoxes.flatMap((box) => [
      flow(`provider>${box.id}`, right(provider), left(box)),
      flow(`${box.id}>table`, right(box), left(table)),
    ]),
    flow("table>relay", right(table), left(relay)),
    ...readers.map((box) => flow(`relay>${box.id}`, right(relay), left(box))),
    {
      id: "relay>fetch",
      path: `M${relay.x + 40},${relay.y + relay.height} C${relay.x + 40},${below + 27} ${relay.x},${below + 27} ${fetch.x + fetch.width},${below + 27}`,
    },
    { id: "fetch>table", path: `M${fetch.x + 118},${below} L${fetch.x + 118},${table.y + table.height}` },
    {
      id: "fetch>provider",
      path: `M${fetch.x + 58},${below} C${fetch.x + 58},${below - 26} ${provider.x + 90},${below + 10} ${provider.x + 60},${provider.y + provider.height}`,
    },
    {
      id: "relay>erase",
      path: `M${relay.x + 76},${relay.y + relay.height} C${relay.x + 76},${below + 27} ${relay.x + 120},${below + 27} ${erase.x},${below + 27}`,
    },
    { id: "checks>fetch", path: `M${checks.x + checks.width},${below + 27} L${fetch.x},${below + 27}` },
  ];
  return {
    width: 1080,
    height,
    boxes: [provider, ...kindBoxes, table, relay, ...readers, fetch, checks, erase],
    flows,
  };
}

type Point = readonly [x: number, y: number];

function right({ x, y, width, height }: Box): Point {
  return [x + width, y + height / 2];
}

function left({ x, y, height }: Box): Point {
  return [x, y + height / 2];
}

function flow(id: string, [x1, y1]: Point, [x2, y2]: Point): Flow {
  const bend = (x2 - x1) / 2;
  return { id, path: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}` };
}

/** The way that something takes through the picture which has just happened. */
export function pathOf(
  { what, type = "" }: Happening,
  subscribers: readonly string[],
): readonly (readonly string[])[] {
  const kind = `${type.split(".")[0]}s`;
  if (what.startsWith("received"))
    return kind === "endpoints"
      ? [[`provider>${kind}`, `${kind}>table`, "table>relay", "relay>fetch"]]
      : [[`provider>${kind}`, `${kind}>table`]];
  if (what.startsWith("data")) {
    const read = ["fetch>table", "table>relay"];
    return what === "data changed"
      ? subscribers.map((name) => [...read, `relay>subscriber/${name}`])
      : [read];
  }
  return subscribers.map((name) => ["table>relay", `relay>subscriber/${name}`]);
}
