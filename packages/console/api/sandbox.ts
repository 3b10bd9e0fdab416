import {
  advanceSandbox,
  failSandbox,
  healSandbox,
  sandboxToken,
} from "@income-events/cli/commands/sandbox.ts";
import { setGivenToken } from "@income-events/cli/commands/token.ts";
import { triggerEvent } from "@income-events/cli/commands/trigger.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import { type Asked, type ConsoleContext, change, optionalTextIn, type Route, textIn } from "../route.ts";
import { type CommandOutcome, runCommand } from "../run-command.ts";

type Deed = (context: ConsoleContext, asked: Asked) => Promise<CommandOutcome>;

/** What the provider of a system on this machine can be made to do. */
const deeds: Readonly<Record<string, Deed>> = {
  trigger: ({ operation }, asked) => {
    const [type, endpoint] = [textIn(asked, "type"), optionalTextIn(asked, "endpoint")];
    const args = endpoint === undefined ? [type] : [type, endpoint];
    return runCommand(operation, (each) => triggerEvent(each, {}, ...args));
  },
  fail: ({ operation }, asked) => {
    const seconds = optionalTextIn(asked, "for");
    const flags = seconds === undefined ? {} : { for: seconds };
    return runCommand(operation, (each) => failSandbox(each, flags, textIn(asked, "how")));
  },
  heal: ({ operation }) => runCommand(operation, healSandbox),
  advance: ({ operation }, asked) =>
    runCommand(operation, (each) => advanceSandbox(each, {}, textIn(asked, "time"))),
  token: async ({ operation }) => {
    const { token } = await runCommand(operation, sandboxToken);
    return runCommand(operation, (each) => setGivenToken(each, {}), { input: String(token) });
  },
};

export const sandboxRoutes: readonly Route[] = Object.entries(deeds).map(([name, deed]) =>
  change(`/api/sandbox/${name}`, (context, asked) => {
    if (context.operation.deployment.local === undefined)
      throw CommandError.usage("This is for systems on this machine: the provider of this stage is real.");
    return deed(context, asked);
  }),
);
