import { randomUUID } from "node:crypto";
import {
  type ProviderAnswer,
  startTestProvider,
  type TestProvider,
} from "@income-events/local-stack/provider.ts";
import { SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { providerApi } from "../../../adapters/provider/provider-api.ts";
import { readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import { type TokenSecret, tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { refresher } from "../../../functions/refresh/refresher.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";
import { keptLog, type LogEntry } from "./lambda.ts";

export const hour = 3_600;

const settings = { marginFraction: 0.5, refreshEveryMinutes: 15 };

/**
 * Versions of a secret are dated by the engine's own clock: by then they are older than ten minutes, however slow the
 * machine.
 */
export const later = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 60 * 60_000);

/** A token whose lifetime began so many hours ago and ends in so many. */
export function tokenOf(begunHoursAgo: number, endsInHours: number): Promise<string> {
  const seconds = later.getTime() / 1_000;
  return new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuedAt(seconds - begunHoursAgo * hour)
    .setExpirationTime(seconds + endsInHours * hour)
    .sign(Buffer.from("the provider's key"));
}

/** What the refresher's tests share, made again for each: the provider, the token's secret, the refresher itself. */
export function refresherFixture() {
  let system: TestSystem;
  let remote: TestProvider;
  let secretId: string;
  let secret: TokenSecret;
  let now: Date;
  /** The note of refused tokens: its version, and what the refresher concluded. */
  let refused: { version?: string; isEnded?: boolean };
  let entries: LogEntry[];
  /** What the provider answers to a refresh, and to a proof with each token. */
  let onRefresh: () => ProviderAnswer | Promise<ProviderAnswer>;
  let onProof: (token: string) => ProviderAnswer | Promise<ProviderAnswer>;
  let refreshPath: string;

  beforeAll(async () => {
    [system, remote] = await Promise.all([startTestSystem(), startTestProvider()]);
  });
  afterAll(() => Promise.all([system.close(), remote.close()]));

  beforeEach(() => {
    entries = [];
    now = later;
    refused = {};
    refreshPath = "/refresh";
    remote.requests.length = 0;
    onRefresh = () => ({ json: { token: "new" } });
    onProof = () => ({ json: [] });
    remote.answer = ({ path, headers }) =>
      path === refreshPath ? onRefresh() : onProof((headers.authorization ?? "").replace("Bearer ", ""));
  });

  function setByHand(token: string): void {
    system.secrets.call("PutSecretValue", { SecretId: secretId, SecretString: JSON.stringify({ token }) });
  }

  async function withSecret(value: unknown): Promise<void> {
    secretId = system.createSecret(value);
    secret = tokenSecret(system.secretsManager, secretId);
  }

  function refresherOf() {
    const kept = keptLog();
    entries = kept.entries;
    const limits = {
      timeouts: { connectSeconds: 1, headersSeconds: 5, bodySeconds: 5 },
      maxResponseBytes: 10_000,
      allowPrivateAddresses: true,
    };
    return refresher({
      secret,
      refusals: {
        read: async () => refused.version,
        conclude: async (version, isEnded) => {
          refused = { version, isEnded };
        },
      },
      call: providerApi(remote.url, limits, () => now),
      readLifetime: readTokenLifetime,
      refreshPath,
      proofPath: "/users",
      refresh: settings,
      now: () => now,
      log: kept.log,
    });
  }

  /** What is said of the token's lifetime is said beside, and has a test of its own. */
  const codes = () =>
    entries.map(({ code }) => code).filter((code) => code !== "TOKEN_LIFE" && code !== "TOKEN_NEAR_END");
  const calls = () => remote.requests.map(({ path, headers }) => `${path} ${headers.authorization}`);
  const currentToken = async () => (await secret.current()).token;

  return {
    get system() {
      return system;
    },
    get remote() {
      return remote;
    },
    get secretId() {
      return secretId;
    },
    get secret() {
      return secret;
    },
    get now() {
      return now;
    },
    set now(value) {
      now = value;
    },
    get refused() {
      return refused;
    },
    set refused(value) {
      refused = value;
    },
    get entries() {
      return entries;
    },
    get onRefresh() {
      return onRefresh;
    },
    set onRefresh(value) {
      onRefresh = value;
    },
    get onProof() {
      return onProof;
    },
    set onProof(value) {
      onProof = value;
    },
    get refreshPath() {
      return refreshPath;
    },
    set refreshPath(value) {
      refreshPath = value;
    },
    setByHand,
    withSecret,
    refresherOf,
    codes,
    calls,
    currentToken,
  };
}
