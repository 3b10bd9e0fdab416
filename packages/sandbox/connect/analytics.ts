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

/** Usage of the connection flow: steps and datasources, no personal data. */
export type Analytics = {
  add(step: FlowStep, datasourceId?: string): void;
  list(): readonly FlowEvent[];
};

const limit = 100_000;

/** @param runs true in production only: clicks in tests are not representative */
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
