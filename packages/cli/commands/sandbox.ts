import type { Command } from "commander";
import { type Fields, fieldsOf, isFields, parseJson } from "../../../domain/core/parse.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";
import { durationFlag } from "../core/flags.ts";
import { spanText } from "../core/text.ts";

export function addTo(program: Command): void {
  const group = program.command("sandbox").description("Makes the sandbox fail, or recover.");
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
  if (seconds !== undefined && failure.path !== "/faults")
    throw CommandError.usage(`--for does not apply to ${how}, which has no duration.`);
  const answer = await callSandbox(deployment, "POST", failure.path, failure.body);
  terminal.result({ stage: deployment.stage, how, ...answer }, failure.says);
}

export async function healSandbox({ deployment, terminal }: Operation): Promise<void> {
  await callSandbox(deployment, "DELETE", "/faults");
  terminal.result({ stage: deployment.stage }, "The sandbox answers as it should.");
}

export async function advanceSandbox(
  { deployment, terminal }: Operation,
  _: object,
  time = "",
): Promise<void> {
  const advanceSeconds = durationFlag("<time>", time);
  const { now } = await callSandbox(deployment, "POST", "/clock", { advanceSeconds });
  terminal.result({ stage: deployment.stage, now }, `It is ${String(now)} at the sandbox.`);
}

export async function sandboxToken({ deployment, terminal }: Operation): Promise<void> {
  const answer = await callSandbox(deployment, "POST", "/token", { action: "issue" });
  terminal.result({ stage: deployment.stage, token: answer.token }, String(answer.token));
}

const timeoutInMs = 30_000;

/**
 * Calls the control address of a local system's sandbox. @returns its answer
 * @throws CommandError if there is no sandbox, or with its error
 */
async function callSandbox(
  { stage, local }: Pick<Deployment, "stage" | "local">,
  method: "POST" | "DELETE",
  path: string,
  body?: object,
): Promise<Fields> {
  const address = local?.sandbox?.control;
  if (address === undefined)
    throw CommandError.noDeployment(
      `The stage ${stage} has no sandbox: its provider is real. Start a system with one: npm start`,
    );
  const response = await fetch(`${address}${path}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
    signal: AbortSignal.timeout(timeoutInMs),
  });
  const answer = parseJson(await response.text(), "the sandbox's answer");
  if (!response.ok) throw CommandError.usage(`The sandbox refuses this: ${reasonOf(answer)}.`);
  return fieldsOf(answer, "the sandbox's answer");
}

function reasonOf(answer: unknown): string {
  const error = isFields(answer) ? answer.error : undefined;
  const message = isFields(error) ? error.message : isFields(answer) ? answer.message : undefined;
  return typeof message === "string" ? message : "no reason is given";
}

/** A sandbox command: the call to its control address, and the consequence for people. */
type SandboxFailure = {
  readonly path: "/faults" | "/token" | "/users";
  readonly body: object;
  readonly says: string;
};

/** In the order of the help. */
const effects = [
  ...["hang", "slow", "large", "malformed", "maintenance", "empty", "cut", "error-in-body", "wrong-charset"],
  ...["wrong-coding", "bomb", "gzip", "deflate", "br", "zstd", "bom", "iso-8859-1", "utf-16", "redirect"],
  "forget",
];
/** Those with another name in the sandbox. */
const sandboxNames = new Map([
  ["slow", "slow-body"],
  ["large", "large-body"],
  ["malformed", "malformed-json"],
  ["forget", "forget-accounts"],
]);

const others = {
  drop: {
    path: "/users",
    body: { count: 1, drop: true },
    says: "A user connected an account, and its events are lost. To find them, run: npx income-events reconcile now",
  },
  "revoke-token": {
    path: "/token",
    body: { action: "revoke" },
    says: "All tokens are revoked, and refreshing fails. Set a new one: npx income-events sandbox token | npx income-events token set",
  },
  "expire-token": {
    path: "/token",
    body: { action: "expire" },
    says: "All tokens have expired. Set a new one: npx income-events sandbox token | npx income-events token set",
  },
} as const satisfies Readonly<Record<string, SandboxFailure>>;

/** Faults that can be set by name, beside a status. */
export const failureNames = [...effects, ...Object.keys(others)];

/**
 * A failure by its name, or by the status of answers (202, 204, 206, or 300 to 599).
 * @param seconds how long calls fail; if undefined, until the sandbox is healed. Instant faults have no duration
 * @throws CommandError for an unknown name
 */
function sandboxFailure(name: string, seconds: number | undefined): SandboxFailure {
  const other = Object.entries(others).find(([known]) => known === name)?.[1];
  if (other !== undefined) return other;
  const effect = effects.includes(name) ? (sandboxNames.get(name) ?? name) : undefined;
  const status = /^(?:20[246]|[3-5]\d\d)$/.test(name) ? Number(name) : undefined;
  if (effect === undefined && status === undefined)
    throw CommandError.usage(
      `<how> ${JSON.stringify(name)}: write a status (202, 204, 206, or 300 to 599), or one of ${failureNames.join(", ")}.`,
    );
  const end =
    seconds === undefined ? ". To end it: npx income-events sandbox heal" : ` for ${spanText(seconds)}.`;
  return {
    path: "/faults",
    body: {
      ...(effect === undefined ? { status } : { effect }),
      share: 1,
      ...(seconds !== undefined && { forSeconds: seconds }),
    },
    says: `The sandbox answers every call with the failure ${name}${end}`,
  };
}
