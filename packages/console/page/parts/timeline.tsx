import type { TimedStep } from "@income-events/cli/events/event-steps.ts";
import { visible } from "../format.ts";
import { Panel, Time } from "./panel.tsx";

type Props = { readonly steps: readonly TimedStep[] | undefined; readonly error: string | undefined };

/** Each step of an event with its time: from its webhook, by each call to the provider, to each subscriber. */
export function Timeline({ steps, error }: Props) {
  return (
    <Panel title="Timeline" error={error}>
      {steps === undefined && error === undefined && <p class="quiet">The functions' logs are being read…</p>}
      {steps?.length === 0 && (
        <p class="empty">
          The logs of the last 7 days have no step of it. Its way above is what the table tells.
        </p>
      )}
      {steps !== undefined && steps.length > 0 && (
        <>
          <ol class="steps" aria-label="Steps, the earliest first">
            {steps.map(({ at, step, detail, call, againAt, isFailure }, index) => (
              <li key={at + step + index} class={isFailure === true ? "step-open" : "step-done"}>
                <Time at={at} /> <b>{call === undefined ? step : `call ${call} of the provider`}</b>{" "}
                {visible(detail)}
                {againAt !== undefined && (
                  <>
                    , again at <Time at={againAt} />
                  </>
                )}
              </li>
            ))}
          </ol>
          <p class="quiet">
            Of a subscriber it is known when a message was sent to its queue. When it was read, its own logs
            say.
          </p>
        </>
      )}
    </Panel>
  );
}
