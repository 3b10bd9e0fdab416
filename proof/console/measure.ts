import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { z } from "zod";
import { bundlePage } from "../../packages/console/page-bundle.ts";
import { type Frames, scrollList } from "./frames.ts";
import { type OpenedSystem, residentBytes } from "./system.ts";
import { until } from "./until.ts";

/** @returns kilobytes of script, as sent compressed */
export async function scriptKilobytes(): Promise<number> {
  const script = (await bundlePage()).get("/assets/page.js")?.content ?? "";
  return gzipSync(script).length / 1_000;
}

/** @returns seconds from the address to a page that shows a verdict and what the queues hold */
export async function firstPageSeconds({ page, origin }: OpenedSystem): Promise<number> {
  const started = performance.now();
  await page.goto(`${origin}/`);
  await page.locator("section.verdict:not(.verdict-waiting)").waitFor();
  await page.getByRole("region", { name: "Queues in numbers" }).getByRole("rowheader").first().waitFor();
  return (performance.now() - started) / 1_000;
}

const logged = z.object({ entries: z.array(z.looseObject({ timestamp: z.string(), code: z.string() })) });
const listed = z.object({ events: z.array(z.object({ id: z.string() })) });

/** @returns seconds from when an event was stored, as its function logged, until the page shows it */
export async function tailSeconds({ page, origin, sendUser }: OpenedSystem): Promise<number> {
  const user = randomUUID();
  await page.getByText("Live", { exact: true }).first().waitFor();
  const shown = page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      if (document.querySelector(".ticker")?.textContent.includes("${user}")) resolve(Date.now());
      else requestAnimationFrame(look);
    };
    look();
  })`);
  await sendUser(user);
  const at = await shown;
  const ask = async (path: string) => (await page.request.get(`${origin}${path}`)).json();
  // The page shows an event from when it came: on a busy machine it is stored a while later.
  const stored = await until(async () => {
    const [event] = listed.parse(await ask(`/api/events?since=15m&user=${user}`)).events;
    if (event === undefined) return undefined;
    const { entries } = logged.parse(await ask(`/api/logs?id=${event.id}`));
    return entries.find(({ code }) => code === "EVENT_STORED");
  }, "what stores the event has logged nothing");
  return Math.max(0, at - Date.parse(stored.timestamp)) / 1_000;
}

export type Scrolling = Frames & { readonly rows: number; readonly readSeconds: number };

/** Scrolls the history of events from its first row to its last. */
export async function scroll({ page, origin }: OpenedSystem): Promise<Scrolling> {
  const started = performance.now();
  await page.goto(`${origin}/events?since=1h`);
  await page.getByRole("region", { name: "Events, the newest first" }).locator("li").first().waitFor();
  const readSeconds = (performance.now() - started) / 1_000;
  const said = (await page.getByText(/of [\d,.]+ events, from/).textContent()) ?? "";
  const rows = Number(/of ([\d,.]+) events/.exec(said)?.[1]?.replaceAll(/\D/g, ""));
  return { rows, readSeconds, ...(await scrollList(page)) };
}

export type MemorySample = {
  readonly minutes: number;
  /** Events sent until then. */
  readonly sent: number;
  /** What the console's process holds of the machine's memory, and what of that is in use. */
  readonly server: number;
  readonly live: number;
  readonly page: number;
};

export type MemoryRun = {
  readonly minutes: number;
  /** Events that come, at most: a busy machine sends fewer. */
  readonly perSecond: number;
  /** Is given each sample as soon as it is taken. */
  readonly onSample: (sample: MemorySample) => void;
};

/** @returns megabytes of the console's process and of live objects, its own and the page's, while events come */
export async function memoryOverTime(
  system: OpenedSystem,
  { minutes, perSecond, onSample }: MemoryRun,
): Promise<{ readonly samples: readonly MemorySample[]; readonly sent: number }> {
  const { page, origin, pid, heap, sendUser } = system;
  await page.goto(`${origin}/`);
  const session = await page.context().newCDPSession(page);
  const liveBytes = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize;
  };
  const samples: MemorySample[] = [];
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 60_000;
  let sent = 0;
  // A busy machine takes one sample at a time, and growth needs three.
  while (elapsed() < minutes || samples.length < 3) {
    const due = Math.floor(elapsed() * 60 * perSecond) - sent;
    await Promise.all(Array.from({ length: Math.min(due, perSecond) }, () => sendUser(randomUUID())));
    sent += Math.min(due, perSecond);
    if (samples.length <= (elapsed() / minutes) * samplesOfRun) {
      const [server, live, shown] = [await residentBytes(pid), await heap.liveBytes(), await liveBytes()];
      const [megabytes, at] = [2 ** 20, elapsed()];
      const sample = {
        minutes: at,
        sent,
        server: server / megabytes,
        live: live / megabytes,
        page: shown / megabytes,
      };
      samples.push(sample);
      onSample(sample);
    }
    await pause(100);
  }
  return { samples, sent };
}

const samplesOfRun = 20;

/** How much greater the mean of the last third is than that of the middle one: the first is the start. */
export function growthOf(values: readonly number[]): number {
  const third = Math.max(1, Math.floor(values.length / 3));
  const mean = (some: readonly number[]) => some.reduce((sum, value) => sum + value, 0) / some.length;
  return mean(values.slice(-third)) / mean(values.slice(-2 * third, -third)) - 1;
}
