/** A step that an end user took in the connection flow. */
export type FlowStep =
  | "opened"
  | "registered"
  | "searched"
  | "chosen"
  | "submitted"
  | "connected"
  | "refused";

export type FlowEvent = {
  readonly at: Date;
  readonly step: FlowStep;
  readonly datasourceId?: string;
};

/** How the connection flow is used: steps and datasources, and nothing about the person. */
export type Analytics = {
  add(step: FlowStep, datasourceId?: string): void;
  list(): readonly FlowEvent[];
};

const limit = 100_000;

/** @param runs only production is measured: clicks of tests would report nothing */
export function createAnalytics(now: () => Date, runs: boolean): Analytics {
  let events: FlowEvent[] = [];
  return {
    add: (step, datasourceId) => {
      if (!runs) return;
      events.push({ at: now(), step, ...(datasourceId === undefined ? {} : { datasourceId }) });
      if (events.length > limit) events = events.slice(-limit / 2);
    },
    list: () => [...events],
  };
}
