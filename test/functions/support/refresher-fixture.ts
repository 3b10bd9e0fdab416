import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import { type TokenSecret, tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { type RefresherDependencies, refresher } from "../../../functions/refresh/refresher.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";
import { providerLimits } from "../../support/provider-limits.ts";
import { type ProviderAnswer, startTestProvider, type TestProvider } from "../../support/test-provider.ts";
import { keptLog, type LogEntry } from "./lambda.ts";

export const hour = 3_600;

/**
 * The engine's clock dates versions of a secret: by this time they are older than ten minutes, on any
 * machine.
 */
export const later = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 60 * 60_000);

/** A token whose lifetime began this many hours ago and ends in this many. */
export function tokenOf(begunHoursAgo: number, endsInHours: number): Promise<string> {
  const seconds = later.getTime() / 1_000;
  return new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuedAt(seconds - begunHoursAgo * hour)
    .setExpirationTime(seconds + endsInHours * hour)
    .sign(Buffer.from("the provider's key"));
}

/** No call was refused, and each refresh is allowed. */
const noRefusals = {
  read: async () => undefined,
  conclude: async () => undefined,
  claimRefresh: async () => true,
};

type Given = Pick<RefresherDependencies, "secret" | "api" | "now"> & Partial<RefresherDependencies>;

/** A refresher every quarter of an hour, and what it logs. */
export function refresherOf(given: Given) {
  const { log, entries } = keptLog();
  const run = refresher({
    refusals: noRefusals,
    readLifetime: readTokenLifetime,
    refreshPath: "/refresh",
    proofPath: "/users",
    refresh: { marginFraction: 0.5, refreshEveryMinutes: 15 },
    log,
    ...given,
  });
  return { run, entries };
}

/** Fixture of the refresher's tests, new for each: the provider, the token's secret, the refresher. */
export function refresherFixture() {
  const made = {} as {
    system: TestSystem;
    remote: TestProvider;
    secretId: string;
    secret: TokenSecret;
    now: Date;
    /** The note of refused tokens: its version, and the refresher's conclusion. */
    refused: { version?: string; isEnded?: boolean };
    entries: LogEntry[];
    /** The provider's answers to a refresh, and to a proof with each token. */
    onRefresh: () => ProviderAnswer | Promise<ProviderAnswer>;
    onProof: (token: string) => ProviderAnswer | Promise<ProviderAnswer>;
  };

  beforeAll(async () => {
    [made.system, made.remote] = await Promise.all([startTestSystem(), startTestProvider()]);
  });
  afterAll(() => Promise.all([made.system.close(), made.remote.close()]));

  beforeEach(() => {
    made.entries = [];
    made.now = later;
    made.refused = {};
    made.remote.requests.length = 0;
    made.onRefresh = () => ({ json: { token: "new" } });
    made.onProof = () => ({ json: [] });
    made.remote.answer = ({ path, headers }) =>
      path === "/refresh"
        ? made.onRefresh()
        : made.onProof((headers.authorization ?? "").replace("Bearer ", ""));
  });

  function setByHand(token: string): void {
    made.system.secrets.call("PutSecretValue", {
      SecretId: made.secretId,
      SecretString: JSON.stringify({ token }),
    });
  }

  async function withSecret(value: unknown): Promise<void> {
    made.secretId = made.system.createSecret(value);
    made.secret = tokenSecret(made.system.secretsManager, made.secretId);
  }

  function newRun() {
    const { run, entries } = refresherOf({
      secret: made.secret,
      refusals: {
        ...noRefusals,
        read: async () => made.refused.version,
        conclude: async (version, isEnded) => {
          made.refused = { version, isEnded };
        },
      },
      api: new ProviderApi(made.remote.url, providerLimits, () => made.now),
      now: () => made.now,
    });
    made.entries = entries;
    return run;
  }

  /** Logged codes without that of the token's lifetime, which has its own test. */
  const codes = () =>
    made.entries
      .map(({ code }) => code)
      .filter((code) => code !== "TOKEN_TIME_LEFT" && code !== "TOKEN_NEAR_END");
  const calls = () => made.remote.requests.map(({ path, headers }) => `${path} ${headers.authorization}`);
  const currentToken = async () => (await made.secret.current()).token;

  return Object.assign(made, {
    setByHand,
    withSecret,
    newRun,
    codes,
    calls,
    currentToken,
  });
}
