import { startImplementation } from "../bench/drive/running-implementation.ts";
import { startProvider } from "../bench/provider.ts";
import { depthOf } from "./depths.ts";
import { type Driver, endToEnd, throughFunctions } from "./drivers.ts";
import { batchOf } from "./expected.ts";
import { growing, isAssessable, type Samples, takeSamples } from "./memory.ts";
import { secondsLeft } from "./report.ts";
import { type PartName, type Plan, readState, type State, writeState } from "./state.ts";

export type SoakOptions = {
  readonly plan: Plan;
  readonly eventsPerBatch: number;
  /** After so many events the system is started again: its engines keep everything in memory. */
  readonly eventsPerSession: number;
  /** How far it has come, for the next run. */
  readonly file: string;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
};

const drivers: Readonly<Record<PartName, Driver>> = { driven: throughFunctions, flowing: endToEnd };
/** So that no batch of one part is a batch of the other. */
const firstBatch: Readonly<Record<PartName, number>> = { driven: 0, flowing: 1_000_000 };

/** Takes what is left of a plan through the pipeline, and keeps how far it came after each batch. */
export async function soak(options: SoakOptions): Promise<State> {
  const { plan, file, signal } = options;
  const wanted = { driven: plan.events - plan.endToEnd, flowing: plan.endToEnd };
  let state = readState(file, plan);
  for (const name of ["flowing", "driven"] as const) {
    while (state[name].events < wanted[name] && !signal.aborted) {
      state = await session(name, wanted[name], state, options);
    }
  }
  return state;
}

/** One life of a system, and of its functions' processes. */
async function session(
  name: PartName,
  wanted: number,
  begun: State,
  { eventsPerBatch, eventsPerSession, file, signal, onProgress }: SoakOptions,
): Promise<State> {
  await using provider = await startProvider();
  await using running = await startImplementation("ours", provider, {
    hasEventSources: name === "flowing",
    keepsMuch: true,
  });
  const began = performance.now();
  let [state, samples]: [State, Samples] = [begun, {}];
  const through = () => state[name].events - begun[name].events;
  while (state[name].events < wanted && through() < eventsPerSession && !signal.aborted) {
    const part = state[name];
    const batch = batchOf(firstBatch[name] + part.legs, Math.min(eventsPerBatch, wanted - part.events));
    const { lost, doubled } = await drivers[name](running, batch);
    const depth = Math.max(part.depth, await depthOf(running));
    const events = part.events + batch.events.size;
    samples = await takeSamples(running, events, samples);
    const done = {
      ...part,
      legs: part.legs + 1,
      events,
      lost: part.lost + lost,
      doubled: part.doubled + doubled,
      depth,
    };
    state = { ...state, [name]: done };
    writeState(file, state);
    const seconds = secondsLeft(through(), wanted - events, (performance.now() - began) / 1000);
    onProgress(`${name}: ${events} of ${wanted}, lost ${done.lost}, ${Math.ceil(seconds / 60)} min to go`);
  }
  const assessed = isAssessable(samples) ? 1 : 0;
  const found = growing(samples).map(
    (each) => `${each} in ${name} session ${state[name].sessions + 1}: ${figureOf(samples[each])}`,
  );
  const ended = {
    ...state[name],
    sessions: state[name].sessions + 1,
    assessed: state[name].assessed + assessed,
    growing: [...state[name].growing, ...found],
  };
  state = { ...state, [name]: ended };
  writeState(file, state);
  return state;
}

/** For people: a dozen of a function's samples, in megabytes. */
function figureOf(samples: Samples[string] = []): string {
  const every = Math.ceil(samples.length / 12);
  const some = samples.filter((_, index) => index % every === 0);
  return `${some.map(({ bytes }) => Math.round(bytes / 1e6)).join(" ")} MB`;
}
