import { createApi } from "./api/app.ts";
import { type Call, createLog } from "./api/call-log.ts";
import { createFaults } from "./api/faults.ts";
import { type Clock, endingClock } from "./clock.ts";
import { createAnalytics } from "./connect/analytics.ts";
import { checkedBranding } from "./connect/branding.ts";
import { createSignIns } from "./connect/sign-ins.ts";
import { idSource } from "./data/random.ts";
import { type Datasource, standardDatasources } from "./datasources.ts";
import { createDeliveryEngine } from "./delivery/engine.ts";
import type { EndpointName } from "./endpoint-names.ts";
import type { EnvironmentOptions } from "./environment/contract.ts";
import { type Announce, bodyOf, dataControls, deliveryControls } from "./environment/controls.ts";
import { connectFlowPayload } from "./payloads.ts";
import { type EnvironmentName, retryAfterWriter } from "./provider-interface.ts";
import { createProviderModel, type ProviderModel } from "./provider-model.ts";
import { createShapes } from "./shapes.ts";
import type { Store } from "./store.ts";
import { createTokens } from "./tokens.ts";
import { createWebhookRegistry, type WebhookKind } from "./webhooks.ts";

export type {
  CreateAccountOptions,
  CreateUsersOptions,
  DropOptions,
  EnvironmentOptions,
  FireOptions,
} from "./environment/contract.ts";

/** An environment of the service: its API and the operator's controls. */
export type Environment = Awaited<ReturnType<typeof startEnvironment>>;

export type EnvironmentDependencies = {
  readonly name: EnvironmentName;
  readonly port: number;
  readonly clock: Clock;
  readonly store: Store;
};

const dayMs = 86_400_000;

/**
 * Starts an environment on loopback.
 * @throws the listening error if the port is taken; a range error naming what is wrong with the branding
 */
export async function startEnvironment(
  { name, port, clock: serviceClock, store }: EnvironmentDependencies,
  options: EnvironmentOptions,
) {
  const branding = checkedBranding(options.branding ?? {});
  const clock = endingClock(serviceClock);
  const tokens = createTokens({
    clock,
    store,
    environment: name,
    lifetimeSeconds: options.tokenLifetimeSeconds ?? 3600,
    refreshEndsToken: options.refreshEndsToken ?? false,
  });
  const webhooks = createWebhookRegistry(store);
  const shapes = createShapes(store);
  const datasources = choiceOf(options.datasources ?? standardDatasources);
  let baseUrl = "";
  let isDropping = false;
  const version = options.interface ?? "0.4";
  const engine = createDeliveryEngine({ clock, store, webhooks, interface: version }, options.delivery);
  const announce: Announce = (run, { drop = false } = {}) => {
    isDropping = drop;
    try {
      run();
    } finally {
      isDropping = false;
    }
  };
  const emit = (kind: WebhookKind, payload: object, datasource?: Datasource) => {
    const { platformIds } = webhooks.get(kind) ?? {};
    if (platformIds !== undefined && datasource !== undefined && !platformIds.includes(datasource.id)) return;
    const delivery = { kind, body: bodyOf(shapes.apply(kind, payload)?.shaped ?? payload), headers: {} };
    if (isDropping) engine.drop(delivery);
    else engine.deliver(delivery);
  };
  const model = createProviderModel({
    clock,
    store,
    interface: version,
    nextId: idSource(`${options.seed ?? 1} ${name}`, store),
    emit,
    datasources,
    alertOnAccountCreation: options.alertOnAccountCreation ?? true,
    fetchDurationMs: options.fetchDurationMs ?? 0,
    connectUrl: () => baseUrl,
  });
  const calls = createLog<Call>();
  const faults = createFaults();
  const rateLimit = createRateLimit(clock, options.requestsPerMinute ?? Number.POSITIVE_INFINITY);
  const production = name === "production";
  const analytics = createAnalytics(clock.now, production);
  const signIns = createSignIns({
    environment: name,
    model,
    clock,
    analytics,
    signInDurationMs: options.signInDurationMs ?? 0,
    onResult: (account, result) => {
      if (version !== "0.5") return;
      const [status, description] = result.accepted ? ["connected", ""] : ["failed", result.reason];
      emit("connect-events", connectFlowPayload(account, { status, description, at: clock.now() }));
    },
  });
  const flow = { production, model, signIns, analytics, datasources, branding };
  const retryAfter = retryAfterWriter(options.retryAfter ?? "seconds", clock.now);
  const guard = { clock, tokens, calls, faults, rateLimit, retryAfter };
  const api = await createApi({
    ...guard,
    ...{ interface: version, model, webhooks, shapes, flow, pageSize: options.pageSize },
    connectUrl: () => baseUrl,
  });
  const close = async () => {
    await api.close();
    await engine.close();
    // Ends last because work in progress may still be saved.
    clock.end();
    store.close();
  };
  updatePeriodically(model, clock, dayMs);
  try {
    baseUrl = await api.listen({ host: "127.0.0.1", port });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    baseUrl,
    /** Initial token, issued out of band. */
    token: await tokens.issue(options.initialTokenRemainingSeconds),
    ...dataControls(model, announce),
    ...deliveryControls(engine, clock),
    /** Makes the next calls fail, whether or not their tokens are valid. */
    fault: faults.add,
    clearFaults: faults.clear,
    issueToken: tokens.issue,
    endTokens: tokens.endAll,
    shape: shapes.set,
    /** Received calls, oldest first. */
    calls: calls.list,
    /** Registered webhook of a kind; undefined if there is none. */
    webhook: (kind: WebhookKind) => webhooks.get(kind),
    openapi: () => api.swagger(),
    /** Usage of the connection flow, in production only. */
    analytics: analytics.list,
    /** Resolves when no sign-in or fetch is running and no delivery is pending. */
    waitUntilIdle: async (): Promise<void> => {
      await signIns.ended();
      await model.fetched();
      await engine.waitUntilIdle();
    },
    close,
  };
}

function choiceOf(datasources: readonly Datasource[]): readonly [Datasource, ...Datasource[]] {
  const [first, ...others] = datasources;
  if (first === undefined) throw new RangeError("datasources: name one at least");
  return [first, ...others];
}

/** Endpoints whose data changes over time, unlike a profile or a vehicle. */
const livingEndpoints: ReadonlySet<EndpointName> = new Set([
  "income",
  "activity",
  "bonuses",
  "documents",
  "performance",
  "transactions",
  "trips",
  "wallet",
]);

/**
 * Fetches connected accounts' data again at each interval, for endpoints that were fetched before: an
 * operator that never requested an endpoint gets no events about it.
 */
function updatePeriodically(model: ProviderModel, clock: Clock, intervalMs: number): void {
  const plan = () => {
    clock.schedule(new Date(clock.now().getTime() + intervalMs), () => {
      updateAll(model);
      plan();
    });
  };
  plan();
}

function updateAll(model: ProviderModel): void {
  for (const account of model.accounts()) {
    if (!account.connected || account.deleted) continue;
    const endpoints = [...account.data.keys()].filter((endpoint) => livingEndpoints.has(endpoint));
    if (endpoints.length > 0) model.startFetch(account.id, endpoints);
  }
}

/** Limits calls per minute of the clock; returns the seconds that a call over the limit must wait. */
function createRateLimit(clock: Clock, requestsPerMinute: number): () => number | undefined {
  let minute = -1;
  let count = 0;
  return () => {
    const now = clock.now().getTime();
    const current = Math.floor(now / 60_000);
    if (current !== minute) {
      minute = current;
      count = 0;
    }
    count += 1;
    return count > requestsPerMinute ? Math.ceil(((minute + 1) * 60_000 - now) / 1000) : undefined;
  };
}
