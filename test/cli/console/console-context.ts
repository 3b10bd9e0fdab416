import type { ConsoleContext } from "../../../cli/console/route.ts";
import { createClients } from "../../../cli/core/clients.ts";
import { createTerminal } from "../../../cli/core/terminal.ts";

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

/** Of a stage that nobody is asked about. */
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
