import {
  GetFunctionConfigurationCommand,
  type GetFunctionConfigurationCommandOutput,
} from "@aws-sdk/client-lambda";
import { type EventSource, eventSources } from "../../../adapters/sqs/event-sources.ts";
import { commandLine } from "../core/command-line.ts";
import { oneLine } from "../core/printable.ts";
import { ownQueuesOf, workQueueArn } from "../status/work-queues.ts";
import { type Check, deployAgain, type Finding, found } from "./finding.ts";

/** Outputs that name functions. Settings can leave some of them out. */
const functionOutputs = [
  "RelayFunctionName",
  "RefreshFunctionName",
  "RegisterFunctionName",
  "ReconcileFunctionName",
  "ArchiveFunctionName",
] as const;

export const functionCheck: Check = {
  name: "functions",
  examine: async ({ deployment, clients }) => {
    const names = functionOutputs.flatMap((output) => deployment.optionalOutput(output) ?? []);
    const checks = names.map(async (FunctionName) =>
      checkFunction(
        FunctionName,
        await clients.lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
        deployment.stage,
      ),
    );
    return found((await Promise.all(checks)).flat());
  },
};

type FunctionState = Pick<
  GetFunctionConfigurationCommandOutput,
  "State" | "StateReason" | "LastUpdateStatus" | "LastUpdateStatusReason"
>;

/** A `Pending` or `Inactive` function becomes active by itself. */
export function checkFunction(
  name: string,
  { State, StateReason, LastUpdateStatus, LastUpdateStatusReason }: FunctionState,
  stage: string,
): readonly Finding[] {
  const why = "It can't run as it is deployed.";
  const broken = (reason = "no reason is given"): readonly Finding[] => [
    {
      code: "function-failed",
      severity: "error",
      what: `The function ${name} has failed: ${oneLine(reason)}.`,
      why,
      fix: deployAgain(stage),
    },
  ];
  if (State === "Failed") return broken(StateReason);
  return LastUpdateStatus === "Failed" ? broken(LastUpdateStatusReason) : [];
}

export const eventSourceCheck: Check = {
  name: "event sources",
  examine: async ({ deployment, clients: { lambda } }) => {
    const { stage, client } = deployment;
    const queues = ownQueuesOf(deployment).map(async (name) => {
      const sources = await eventSources(lambda, { EventSourceArn: workQueueArn(deployment, name) });
      return checkEventSources(`the queue ${name}`, sources, stage, client.region);
    });
    const relay = eventSources(lambda, { FunctionName: deployment.output("RelayFunctionName") }).then(
      (sources) => checkEventSources("the table's stream", sources, stage, client.region),
    );
    return found((await Promise.all([...queues, relay])).flat());
  },
};

export function checkEventSources(
  what: string,
  sources: readonly EventSource[],
  stage: string,
  region: string,
): readonly Finding[] {
  const off = {
    code: "event-source-off",
    severity: "error",
    why: "Its messages wait and are not processed.",
  } as const;
  if (sources.length === 0)
    return [{ ...off, what: `No function is called for ${what}.`, fix: deployAgain(stage) }];
  return sources
    .filter(({ state }) => state === "Disabled" || state === "Disabling")
    .map(({ id }) => ({
      ...off,
      what: `The event source of ${what} is disabled.`,
      fix: commandLine`aws lambda update-event-source-mapping --region ${region} --uuid ${id} --enabled`,
    }));
}
