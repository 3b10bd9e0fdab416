import { spanText } from "@income-events/cli/core/text.ts";
import type { Happening } from "@income-events/cli/events/event-tail.ts";
import type { QueueStatus } from "@income-events/cli/status/work-queues.ts";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { number } from "../format.ts";
import { onHappening } from "../live.ts";
import { useStage } from "../stage.ts";

type Props = {
  readonly queues: readonly QueueStatus[];
  /** The provider's problem, in one or two words. */
  readonly provider: string | undefined;
};

/** Maximum dots at once. */
const maxDots = 40;
const millisecondsPerFlow = 550;

/** The pipeline as a picture, with queue depths and each event as a moving dot. */
export function Pipeline({ queues, provider }: Props) {
  const { subscribers } = useStage();
  const names = useMemo(() => subscribers.map(({ name }) => name), [subscribers]);
  const picture = useMemo(() => pictureOf(names), [names]);
  const dots = useRef<SVGGElement>(null);
  useEffect(() => {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return undefined;
    return onHappening((happening) => {
      for (const way of pathOf(happening, names)) void run(dots.current, way);
    });
  }, [names]);
  const queueOf = new Map(queues.map((queue) => [queue.name, queue]));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: where it is wider than the screen, keys scroll it
    <section class="picture" tabIndex={0} aria-label="The pipeline as a picture">
      <svg viewBox={`0 0 ${picture.width} ${picture.height}`} role="img" aria-labelledby="picture-title">
        <title id="picture-title">
          Webhooks come in on the left and leave to the subscribers on the right
        </title>
        <g class="flows">
          {picture.flows.map(({ id, path }) => (
            <path key={id} id={`flow-${id}`} d={path} />
          ))}
        </g>
        <g ref={dots} class="dots" />
        {picture.boxes.map((box) => (
          <Node
            key={box.id}
            box={box}
            queue={box.queue === undefined ? undefined : queueOf.get(box.queue)}
            problem={box.id === "provider" ? provider : undefined}
          />
        ))}
      </svg>
    </section>
  );
}

type NodeProps = {
  readonly box: Box;
  readonly queue: QueueStatus | undefined;
  readonly problem: string | undefined;
};

function Node({ box, queue, problem }: NodeProps) {
  const { x, y, width, height, name, says } = box;
  const held = queue === undefined ? 0 : queue.waiting + queue.inFlight;
  const dead = queue?.deadLetters ?? 0;
  const state = problem !== undefined || dead > 0 ? "node-bad" : held > 0 ? "node-busy" : "node-well";
  const line = problem ?? (queue === undefined || held === 0 ? says : heldText(queue));
  return (
    <g class={`node ${state}`} data-node={box.id}>
      <rect x={x} y={y} width={width} height={height} rx="10" />
      <text x={x + 14} y={y + height / 2 - 4} class="node-name">
        {name.length > 18 ? `${name.slice(0, 17)}…` : name}
      </text>
      <text x={x + 14} y={y + height / 2 + 15} class="node-says">
        {line}
      </text>
      {dead > 0 && (
        <g class="node-dead">
          <rect x={x + width - 46} y={y - 10} width={54} height={20} rx="10" />
          <text x={x + width - 19} y={y + 4}>
            {number(dead)} dead
          </text>
        </g>
      )}
    </g>
  );
}

function heldText({ waiting, inFlight, oldestSeconds }: QueueStatus): string {
  const words = [
    ...(waiting > 0 ? [`${number(waiting)} wait`] : []),
    ...(inFlight > 0 ? [`${number(inFlight)} in flight`] : []),
    ...(oldestSeconds !== undefined && oldestSeconds >= 60 ? [spanText(oldestSeconds)] : []),
  ];
  // A box has room for two words.
  return words.slice(0, 2).join(", ");
}

/** Moves a dot along flows, one after another. */
async function run(group: SVGGElement | null, way: readonly string[]): Promise<void> {
  if (group === null || document.hidden || group.childElementCount >= maxDots) return;
  const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  dot.setAttribute("r", "5");
  group.append(dot);
  for (const id of way) {
    const path = document.getElementById(`flow-${id}`);
    if (path instanceof SVGPathElement) await along(dot, path);
  }
  dot.remove();
}

function along(dot: SVGCircleElement, path: SVGPathElement): Promise<void> {
  const length = path.getTotalLength();
  const begin = performance.now();
  return new Promise((resolve) => {
    const step = (now: number) => {
      const share = Math.min(1, Math.max(0, (now - begin) / millisecondsPerFlow));
      const { x, y } = path.getPointAtLength(share * length);
      dot.setAttribute("cx", String(x));
      dot.setAttribute("cy", String(y));
      if (share < 1 && dot.isConnected) requestAnimationFrame(step);
      else resolve();
    };
    requestAnimationFrame(step);
  });
}

type Box = {
  readonly id: string;
  readonly name: string;
  readonly says: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** The queue's name, as in commands. */
  readonly queue?: string;
};

type Flow = { readonly id: string; readonly path: string };
type Picture = {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly flows: readonly Flow[];
};

const kinds = ["users", "accounts", "endpoints", "company-accounts"] as const;
const row = 70;
const boxHeight = 54;

/** The picture of the pipeline with these subscribers, in the order in which data flows. */
function pictureOf(subscribers: readonly string[]): Picture {
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

/** The path of a change through the picture. */
function pathOf(
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
