import { createLog } from "../api/call-log.ts";

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

export type Analytics = ReturnType<typeof createAnalytics>;

/**
 * Usage of the connection flow: steps and datasources, no personal data.
 * @param runs true in production only: clicks in tests are not representative
 */
export function createAnalytics(now: () => Date, runs: boolean) {
  const events = createLog<FlowEvent>();
  return {
    add: (step: FlowStep, datasourceId?: string): void => {
      if (runs) events.add({ at: now(), step, ...(datasourceId === undefined ? {} : { datasourceId }) });
    },
    list: events.list,
  };
}
