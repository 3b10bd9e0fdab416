import { bundlePage } from "@income-events/console/page-bundle.ts";
import { type ConsoleContext, createJobs } from "@income-events/console/route.ts";
import { consoleRoutes } from "@income-events/console/routes.ts";
import { startConsole } from "@income-events/console/server.ts";
import { createTail } from "@income-events/console/tail.ts";
import type { Command } from "commander";
import { streamOf } from "../../../adapters/streams/stream-follower.ts";
import { present } from "../../../domain/core/parse.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import type { DeploymentOptions } from "../core/deployment.ts";
import { awaitInterruption, untilAborted } from "../core/interruption.ts";

type Flags = DeploymentOptions & {
  readonly port: string;
  readonly write?: boolean;
  readonly settings?: string;
};

export function addTo(program: Command): void {
  addCommand<Flags>(program, {
    name: "console",
    summary:
      "Serves a web page that shows the stage, and with --write changes it, until Ctrl-C. Its address works for one browser.",
    examples: [
      "npx income-events console",
      "npx income-events console --write    also to redrive, replay, erase",
      "npx income-events console --stage prod --outputs outputs.json",
    ],
    run: serve,
  })
    .option("--port <port>", "port on this machine; 0 takes any free port", "0")
    .option("--settings <file>", "compare the deployed settings with this file instead of stages/STAGE.json")
    .option("--write", "allow the page to change the stage (default: read-only)");
}

async function serve(operation: Operation, flags: Flags): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const port = portOf(flags.port);
  // Missing credentials are reported here; the page could only show that each call failed.
  await streamOf(clients.dynamodb, deployment.output("TableName")).catch((error: unknown) => {
    if (!(error instanceof Error) || !error.name.startsWith("AccessDenied")) throw error;
  });
  const { stage, outputs, pipeline, local } = flags;
  const context: ConsoleContext = {
    operation,
    options: present<DeploymentOptions>({ stage, outputs, pipeline, local }),
    ...(flags.settings !== undefined && { settings: flags.settings }),
    isWritable: flags.write ?? false,
    now: () => new Date(),
  };
  using interruption = awaitInterruption();
  using tail = createTail(context);
  const routes = [...consoleRoutes(context, createJobs()), tail.route];
  const onAdmitted = (address: string) => terminal.progress(`For one more browser: ${address}`);
  await using server = await startConsole({ context, files: await bundlePage(), routes, onAdmitted }, port);
  const url = server.address();
  terminal.result({ stage: deployment.stage, url }, `Console  ${url}`);
  terminal.progress(
    `It shows the stage ${deployment.stage}${context.isWritable ? "" : ", read-only (--write lets it change)"}. Ctrl-C ends it.`,
  );
  await untilAborted(interruption.signal);
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw CommandError.usage(`--port ${JSON.stringify(text)}: write a port from 0 to 65535.`);
}
