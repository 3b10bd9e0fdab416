/** The provider in its own process, which records each webhook that it sends with the pipeline's answer. */
import { appendFileSync } from "node:fs";
import type { Attempt } from "@income-events/sandbox/delivery/engine.ts";
import type { FireOptions } from "@income-events/sandbox/environment.ts";
import { startSandbox } from "@income-events/sandbox/server.ts";
import { type WebhookKind, webhookKinds } from "@income-events/sandbox/webhooks.ts";
import { eventIdsOf, identityOf } from "../../scenario/traffic.ts";
import type { SentLine } from "../audit/read-records.ts";
import { serve } from "../remote.ts";

const [, , seed = "1", sentFile = ""] = process.argv;

/** Webhooks about each person, for resending. */
const announced = new Map<string, Map<string, Pick<Attempt, "kind" | "body">>>();

function record({ kind, body, result }: Attempt): void {
  const subjects = subjectsIn(body);
  const id = identityOf({ kind, body });
  for (const subject of subjects) {
    const known = announced.get(subject) ?? new Map();
    announced.set(subject, known.set(id, { kind, body }));
  }
  const lines = eventIdsOf({ kind, body }).map((each): SentLine => ({ kind, id: each, subjects, ...result }));
  appendFileSync(sentFile, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Provider ids in a body; none if it cannot be parsed. */
function subjectsIn(body: Buffer): readonly string[] {
  try {
    const { account_id, company_account_id, user_id, data } = Object(JSON.parse(body.toString()));
    return [account_id, company_account_id, user_id, Object(data).id].filter((id) => typeof id === "string");
  } catch {
    return [];
  }
}

/** Maximum attempts of a webhook; undefined: until it is answered. */
let tries: number | undefined;

const sandbox = await startSandbox({
  seed: Number(seed),
  // Always near its end, so that each run of the refresher refreshes.
  tokenLifetimeSeconds: 600,
  pageSize: 2,
  delivery: {
    timeoutMs: 60_000,
    firstRetryMs: 200,
    maxRetryMs: 2_000,
    concurrency: 6,
    tries: () => tries,
    onAttempt: record,
  },
});

const methods = {
  start: () => ({ url: sandbox.baseUrl, token: sandbox.token }),
  createUsers: sandbox.createUsers,
  /** @returns the number of deliveries */
  fire: (kind: WebhookKind, payload: object | string, options: FireOptions) =>
    sandbox.fireEvent(kind, payload, options).length,
  /** Resends the latest events of each kind. */
  resend: (perKind: number) => {
    for (const kind of webhookKinds) {
      const done = sandbox.deliveries({ kind, status: "delivered" }).slice(-perKind);
      for (const { id } of done) sandbox.resend(id);
    }
  },
  /** Resends what was delivered about a person. */
  resendOf: (id: string) => {
    for (const { kind, body } of announced.get(id)?.values() ?? []) sandbox.fireEvent(kind, body);
  },
  deleteAccount: (accountId: string) => void sandbox.deleteAccount(accountId),
  replaceMetadata: sandbox.replaceMetadata,
  fetchData: sandbox.fetchData,
  headers: (kind: WebhookKind) => sandbox.webhook(kind)?.headers ?? {},
  /** Limits the attempts of each webhook from now on; null: until it is answered. */
  limitTries: (most: number | null) => {
    tries = most ?? undefined;
  },
  /** Deliveries in progress. */
  pending: () => sandbox.deliveries({ status: "pending" }).length,
  deliveries: () => sandbox.deliveries().length,
  /** Deliveries that ended without an accepted attempt. */
  givenUp: () => sandbox.deliveries({ status: "given-up" }).length,
  /** Everything that exists at the provider, and its data by `<account>/<endpoint>`. */
  truth: () => {
    const snapshot = sandbox.snapshot();
    const data = snapshot.endpoints.map(
      ({ accountId, endpoint }) => [`${accountId}/${endpoint}`, sandbox.data(accountId, endpoint)] as const,
    );
    return { snapshot, data: new Map<string, unknown>(data) };
  },
};
export type ProviderMethods = typeof methods;
export type Truth = ReturnType<typeof methods.truth>;
serve(methods, sandbox.close);
