import { createClients } from "../../../packages/cli/core/clients.ts";
import { createTerminal } from "../../../packages/cli/core/terminal.ts";
import type { ConsoleContext } from "../../../packages/console/route.ts";

const noOutput = () => "";
const deployment = {
  stage: "test",
  stack: "test",
  resourcePrefix: "test-",
  resources: /^/,
  client: { region: "eu-central-1" },
  output: noOutput,
  optionalOutput: noOutput,
};

/** A stage that is never called. */
export function consoleContext(isWritable: boolean): ConsoleContext {
  const clients = createClients(deployment);
  const terminal = createTerminal({ json: true, yes: false });
  return {
    operation: { deployment, clients, terminal },
    options: {},
    isWritable,
    now: () => new Date(),
  };
}
