import { useState } from "preact/hooks";
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
/** These happen at once: they have no length. */
const momentary = ["drop"];

export function Trouble() {
  const { connectFlow } = useStage();
  const [type, setType] = useState("account.connected");
  const [how, setHow] = useState("503");
  const [span, setSpan] = useState("2m");
  const [time, setTime] = useState("6h");
  return (
    <>
      <p>
        The provider of this system is a sandbox on this machine. Let it act and fail, and watch what happens.
      </p>
      <div class="columns">
        <Panel title="Connect an account">
          <p>Signs in as a user would; the password of test-user is test-password.</p>
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
            path="/api/trouble/trigger"
            body={{ type }}
            isMain
            says={({ id }) => `Sent. Its id is ${String(id)}.`}
          />
        </Panel>
        <Panel title="Let the provider fail">
          <Select label="How" value={how} of={failures} onChange={setHow} />
          {!momentary.includes(how) && (
            <Select label="For" value={span} of={["30s", "2m", "10m"]} onChange={setSpan} />
          )}
          <Action
            label="Fail"
            path="/api/trouble/fail"
            body={{ how, ...(momentary.includes(how) ? {} : { for: span }) }}
            says={() => `It fails with ${how}. See the overview.`}
          />
          <Action
            label="Let it answer again"
            path="/api/trouble/heal"
            says={() => "It answers as it should."}
          />
        </Panel>
        <Panel title="The token">
          <Action
            label="Revoke the token"
            path="/api/trouble/fail"
            body={{ how: "revoke-token" }}
            says={() => "Every token is revoked. See the overview."}
          />
          <Action
            label="Give it a new token"
            path="/api/trouble/token"
            says={() => "The provider takes the new token."}
          />
        </Panel>
        <Panel title="Let time pass">
          <Select label="Time" value={time} of={["1h", "6h", "1d"]} onChange={setTime} />
          <Action
            label="Advance the clock"
            path="/api/trouble/advance"
            body={{ time }}
            says={({ now }) => `It is ${String(now)} at the provider.`}
          />
        </Panel>
      </div>
      <Panel title="What happens">
        <Ticker most={15} />
      </Panel>
    </>
  );
}
