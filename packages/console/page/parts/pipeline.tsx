import type { QueueStatus } from "@income-events/cli/status/queue-status.ts";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { number, span } from "../format.ts";
import { onHappening } from "../live.ts";
import { useStage } from "../stage.ts";
import { type Box, pathOf, pictureOf } from "./pipeline-layout.ts";

type Props = {
  readonly queues: readonly QueueStatus[];
  /** What is wrong with the provider, in a word or two. */
  readonly provider: string | undefined;
};

/** More dots at once would say no more. */
const maxDots = 40;
const millisecondsPerFlow = 550;

/** The pipeline as a picture: what waits where, and each event as a dot that runs through. */
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
    ...(oldestSeconds !== undefined && oldestSeconds >= 60 ? [span(oldestSeconds)] : []),
  ];
  return words.join(", ");
}

/** Lets a dot run along flows, one after the other. */
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
