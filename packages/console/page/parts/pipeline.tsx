import { spanText } from "@income-events/cli/core/text.ts";
import type { Happening } from "@income-events/cli/events/event-tail.ts";
import type { QueueStatus } from "@income-events/cli/status/work-queues.ts";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { webhookKinds } from "../../../../domain/event/events.ts";
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
  const readers = useMemo(() => subscribers.map(({ name }) => `subscriber/${name}`), [subscribers]);
  const { width, height, boxes, flows } = useMemo(() => pictureOf(readers), [readers]);
  const dots = useRef<SVGGElement>(null);
  useEffect(() => {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return undefined;
    return onHappening((happening) => {
      for (const way of pathsOf(happening, readers)) void run(dots.current, way);
    });
  }, [readers]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: where it is wider than the screen, keys scroll it
    <section class="picture" tabIndex={0} aria-label="The pipeline as a picture">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby="picture-title">
        <title id="picture-title">
          Webhooks come in on the left and leave to the subscribers on the right
        </title>
        <g class="flows">
          {flows.map(([id, path]) => (
            <path key={id} id={`flow-${id}`} d={path} />
          ))}
        </g>
        <g ref={dots} class="dots" />
        {boxes.map((box) => (
          <Node
            key={box.id}
            box={box}
            queue={queues.find(({ name }) => name === box.id)}
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
    const path = document.getElementById(`flow-${id}`)?.getAttribute("d");
    dot.style.offsetPath = `path("${path}")`;
    await dot.animate({ offsetDistance: ["0%", "100%"] }, millisecondsPerFlow).finished;
  }
  dot.remove();
}

type Box = {
  /** The name of a queue's box is the queue's, as in commands. */
  readonly id: string;
  readonly name: string;
  readonly says: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

const row = 70;
const boxHeight = 54;

/** The picture of the pipeline with these subscribers' queues, in the order in which data flows. */
function pictureOf(subscribers: readonly string[]) {
  const rows = Math.max(webhookKinds.length, subscribers.length);
  const middle = (rows * row) / 2 + 4;
  const below = rows * row + 40;
  const main = { y: middle - 34, height: 68 };
  const provider = { id: "provider", name: "Provider", says: "calls webhooks", x: 12, width: 122, ...main };
  const table = { id: "table", name: "Table", says: "events and documents", x: 470, width: 176, ...main };
  const relay = { id: "relay", name: "Relay", says: "publishes", x: 716, width: 108, ...main };
  const queue = (id: string, says: string, x: number, y = below): Box => {
    return { id, name: id.replace("subscriber/", ""), says, x, y, width: 184, height: boxHeight };
  };
  const column = (ids: readonly string[], says: string, x: number) =>
    ids.map((id, index) =>
      queue(id, says, x, middle + (index - ids.length / 2) * row + (row - boxHeight) / 2),
    );
  const kinds = column(webhookKinds, "receive → store", 214);
  const readers = column(subscribers, "subscriber", 892);
  const fetch = queue("fetch", "reads documents", 470);
  const checks = queue("checks", "unanswered starts", 214);
  const erase = queue("erase", "forgets", 892);
  const [low, relayEnd] = [below + boxHeight / 2, main.y + main.height];
  const flows: readonly (readonly [id: string, path: string])[] = [
    ...kinds.flatMap((box) => [flow(provider, box), flow(box, table)]),
    flow(table, relay),
    ...readers.map((box) => flow(relay, box)),
    flow(checks, fetch),
    [
      "relay>fetch",
      `M${relay.x + 40},${relayEnd} C${relay.x + 40},${low} ${relay.x},${low} ${fetch.x + fetch.width},${low}`,
    ],
    ["fetch>table", `M${fetch.x + 118},${below} L${fetch.x + 118},${relayEnd}`],
    [
      "fetch>provider",
      `M${fetch.x + 58},${below} C${fetch.x + 58},${below - 26} ${provider.x + 90},${below + 10} ${provider.x + 60},${relayEnd}`,
    ],
    [
      "relay>erase",
      `M${relay.x + 76},${relayEnd} C${relay.x + 76},${low} ${relay.x + 120},${low} ${erase.x},${low}`,
    ],
  ];
  const boxes = [provider, ...kinds, table, relay, ...readers, fetch, checks, erase];
  return { width: 1080, height: rows * row + 110, boxes, flows };
}

/** A curve from the right of a box to the left of the next one. */
function flow(from: Box, to: Box): readonly [id: string, path: string] {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  const bend = (x1 + x2) / 2;
  return [`${from.id}>${to.id}`, `M${x1},${y1} C${bend},${y1} ${bend},${y2} ${x2},${y2}`];
}

/** The paths of a change through the picture. */
function pathsOf(
  { what, type = "" }: Happening,
  subscribers: readonly string[],
): readonly (readonly string[])[] {
  const kind = `${type.split(".")[0]}s`;
  const received = [`provider>${kind}`, `${kind}>table`];
  const toAll = (before: readonly string[]) => subscribers.map((name) => [...before, `relay>${name}`]);
  if (what.startsWith("received"))
    return [kind === "endpoints" ? [...received, "table>relay", "relay>fetch"] : received];
  if (what === "data changed") return toAll(["fetch>table", "table>relay"]);
  return what.startsWith("data") ? [["fetch>table", "table>relay"]] : toAll(["table>relay"]);
}
