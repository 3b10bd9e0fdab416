import { useState } from "preact/hooks";
import { localTime } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Select } from "../parts/data.tsx";
import { Panel } from "../parts/panel.tsx";
import { Ticker } from "../parts/ticker.tsx";
import { useStage } from "../stage.ts";

const types = [
  "account.connected",
  "account.updated",
  "account.disconnected",
  "endpoint.updated",
  "user.created",
  "user.updated",
  "company-account.connected",
];
const failures = ["503", "500", "429", "401", "hang", "slow", "malformed", "redirect", "drop"];

export function Sandbox() {
  const { connectFlow } = useStage();
  const [type, setType] = useState("account.connected");
  const [how, setHow] = useState("503");
  const [span, setSpan] = useState("2m");
  const [time, setTime] = useState("6h");
  return (
    <>
      <p>
        The provider of this system is a sandbox on this machine. Make it act or fail, and watch the events.
      </p>
      <div class="columns">
        <Panel title="Connect an account">
          <p>
            Sign in as <code>test-user</code> with the password <code>test-password</code>.
          </p>
          <p>
            {connectFlow !== undefined && (
              <a href={connectFlow} target="_blank" rel="noreferrer">
                Open the connect flow
              </a>
            )}
          </p>
        </Panel>
        <Panel title="Trigger an event">
          <Select label="Type" value={type} of={types} onChange={setType} />
          <Action
            label="Trigger"
            path="/api/sandbox/trigger"
            body={{ type }}
            isMain
            says={({ id }) => `Sent. The event's id is ${String(id)}.`}
          />
        </Panel>
        <Panel title="Failures">
          <Select label="Failure" value={how} of={failures} onChange={setHow} />
          {how !== "drop" && (
            <Select label="Duration" value={span} of={["30s", "2m", "10m"]} onChange={setSpan} />
          )}
          <Action
            label="Start failure"
            path="/api/sandbox/fail"
            body={{ how, for: how === "drop" ? undefined : span }}
            says={() => `The sandbox fails: ${how}. See the overview.`}
          />
          <Action label="Recover" path="/api/sandbox/heal" says={() => "The sandbox answers again."} />
        </Panel>
        <Panel title="Token">
          <Action
            label="Revoke token"
            path="/api/sandbox/fail"
            body={{ how: "revoke-token" }}
            says={() => "All tokens are revoked. See the overview."}
          />
          <Action
            label="Set new token"
            path="/api/sandbox/token"
            says={() => "The provider accepts the new token."}
          />
        </Panel>
        <Panel title="Clock">
          <Select label="Time" value={time} of={["1h", "6h", "1d"]} onChange={setTime} />
          <Action
            label="Advance clock"
            path="/api/sandbox/advance"
            body={{ time }}
            says={({ now }) => `The sandbox's time is ${localTime(String(now))}.`}
          />
        </Panel>
      </div>
      <Panel title="Latest events">
        <Ticker most={15} />
      </Panel>
    </>
  );
}
