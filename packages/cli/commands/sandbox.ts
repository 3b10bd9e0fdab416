import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { durationFlag } from "../core/flags.ts";
import { failureNames, sandboxControl, sandboxFailure } from "../sandbox/control.ts";

export function addTo(group: Command): void {
  addCommand<{ readonly for?: string }>(group, {
    name: "fail <how>",
    summary: `Makes the sandbox fail as real providers do: a status (202, 204, 206, or 300 to 599), or ${failureNames.join(", ")}.`,
    isLocal: true,
    examples: [
      "npx income-events sandbox fail 503 --for 2m",
      "npx income-events sandbox fail 202             no data is ready yet",
      "npx income-events sandbox fail maintenance     a page with status 200",
      "npx income-events sandbox fail revoke-token",
      "npx income-events sandbox fail drop    connect a user and lose its events",
    ],
    run: failSandbox,
  }).option("--for <time>", "duration: 30s, 2m, 1h; default: until sandbox heal");
  addCommand(group, {
    name: "heal",
    summary: "Ends all failures of the sandbox. A revoked token stays revoked.",
    isLocal: true,
    examples: ["npx income-events sandbox heal"],
    run: healSandbox,
  });
  addCommand(group, {
    name: "advance <time>",
    summary: "Moves the sandbox's clock forward: retries, new data and token expiry happen as they would.",
    isLocal: true,
    examples: [
      "npx income-events sandbox advance 6h",
      "npx income-events sandbox advance 1d    fetch and announce new data of each account",
    ],
    run: advanceSandbox,
  });
  addCommand(group, {
    name: "token",
    summary: "Prints a new token of the sandbox, as the provider would send it.",
    isLocal: true,
    examples: ["npx income-events sandbox token | npx income-events token set"],
    run: sandboxToken,
  });
}

export async function failSandbox(
  { deployment, terminal }: Operation,
  flags: { readonly for?: string },
  how = "",
): Promise<void> {
  const seconds = flags.for === undefined ? undefined : durationFlag("--for", flags.for);
  const failure = sandboxFailure(how, seconds);
  if (failure === undefined)
    throw CommandError.usage(
      `<how> ${JSON.stringify(how)}: write a status (202, 204, 206, or 300 to 599), or one of ${failureNames.join(", ")}.`,
    );
  if (seconds !== undefined && failure.path !== "/faults")
    throw CommandError.usage(`--for does not apply to ${how}, which has no duration.`);
  const answer = await sandboxControl(deployment)("POST", failure.path, failure.body);
  terminal.result({ stage: deployment.stage, how, ...answer }, failure.says);
}

export async function healSandbox({ deployment, terminal }: Operation): Promise<void> {
  await sandboxControl(deployment)("DELETE", "/faults");
  terminal.result({ stage: deployment.stage }, "The sandbox answers as it should.");
}

export async function advanceSandbox(
  { deployment, terminal }: Operation,
  _: object,
  time = "",
): Promise<void> {
  const advanceSeconds = durationFlag("<time>", time);
  const { now } = await sandboxControl(deployment)("POST", "/clock", { advanceSeconds });
  terminal.result({ stage: deployment.stage, now }, `It is ${String(now)} at the sandbox.`);
}

export async function sandboxToken({ deployment, terminal }: Operation): Promise<void> {
  const answer = await sandboxControl(deployment)("POST", "/token", { action: "issue" });
  terminal.result({ stage: deployment.stage, token: answer.token }, String(answer.token));
}
