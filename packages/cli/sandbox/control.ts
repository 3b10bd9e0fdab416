import { fieldsOf, isFields, parseJson } from "../../../domain/core/parse.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";
import { spanText } from "../core/spans.ts";

/** Calls the sandbox's control address. @returns its answer @throws CommandError with its error */
export type Control = (
  method: "POST" | "DELETE",
  path: string,
  body?: object,
) => Promise<Readonly<Record<string, unknown>>>;

const timeoutInMs = 30_000;

/** The control address of a local system's sandbox. @throws CommandError if there is none */
export function sandboxControl({ stage, local }: Pick<Deployment, "stage" | "local">): Control {
  const address = local?.sandbox?.control;
  if (address === undefined)
    throw CommandError.noDeployment(
      `The stage ${stage} has no sandbox: its provider is real. Start a system with one: npm start`,
    );
  return async (method, path, body) => {
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
  };
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

const effects = {
  hang: "hang",
  slow: "slow-body",
  large: "large-body",
  malformed: "malformed-json",
  maintenance: "maintenance",
  empty: "empty",
  cut: "cut",
  "error-in-body": "error-in-body",
  "wrong-charset": "wrong-charset",
  "wrong-coding": "wrong-coding",
  bomb: "bomb",
  gzip: "gzip",
  deflate: "deflate",
  br: "br",
  zstd: "zstd",
  bom: "bom",
  "iso-8859-1": "iso-8859-1",
  "utf-16": "utf-16",
  redirect: "redirect",
  forget: "forget-accounts",
} as const;

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
export const failureNames = [...Object.keys(effects), ...Object.keys(others)];

/**
 * A failure by its name, or by the status of answers (202, 204, 206, or 300 to 599).
 * @param seconds how long calls fail; if undefined, until the sandbox is healed. Instant faults have no duration
 * @returns undefined for an unknown name
 */
export function sandboxFailure(name: string, seconds: number | undefined): SandboxFailure | undefined {
  const other = Object.entries(others).find(([known]) => known === name)?.[1];
  if (other !== undefined) return other;
  const effect = Object.entries(effects).find(([known]) => known === name)?.[1];
  const status = /^(?:20[246]|[3-5]\d\d)$/.test(name) ? Number(name) : undefined;
  if (effect === undefined && status === undefined) return undefined;
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
