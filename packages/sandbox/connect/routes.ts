import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import type { User } from "../accounts.ts";
import { ApiError, notFound } from "../api/errors.ts";
import { bodySchema } from "../api/schemas.ts";
import type { Datasource } from "../datasources.ts";
import type { ProviderModel, Registration } from "../provider-model.ts";
import type { Analytics } from "./analytics.ts";
import { type Branding, type Look, lookOf } from "./branding.ts";
import type { Credentials } from "./credentials.ts";
import * as pages from "./pages.ts";
import type { SignIns } from "./sign-ins.ts";

export type FlowDependencies = {
  readonly production: boolean;
  readonly model: ProviderModel;
  readonly signIns: SignIns;
  readonly analytics: Analytics;
  readonly branding: Branding;
  readonly datasources: readonly Datasource[];
};

type Opened = { Querystring: { readonly account_alert?: unknown; readonly metadata?: unknown } };
type InSession = { Params: { readonly session: string } };
type AtDatasource = { Params: { readonly session: string; readonly datasource_id: string } };
type AtAccount = { Params: { readonly session: string; readonly account_id: string } };

/** Path of the hosted connection flow. Its pages need no token: end users have none. */
export const flowPath = "/connect";

/** Pages in which an end user registers, picks a datasource and connects an account. */
export async function connectionFlow(flow: FastifyInstance, dependencies: FlowDependencies): Promise<void> {
  acceptForms(flow);
  flow.setErrorHandler((error, _request, reply) => sendErrorPage(error, reply, dependencies));
  registrationRoutes(flow, dependencies);
  choiceRoute(flow, dependencies);
  credentialsRoutes(flow, dependencies);
  accountRoutes(flow, dependencies);
  flow.all(`${flowPath}/*`, { schema: { hide: true } }, async () => {
    throw notFound("There is no page at this address. Check your link.");
  });
}

function registrationRoutes(flow: FastifyInstance, dependencies: FlowDependencies): void {
  const { model, analytics } = dependencies;
  flow.get<Opened>(flowPath, { schema: { hide: true } }, async ({ query }, reply) => {
    const frame = frameOf(dependencies);
    choicesIn(query);
    analytics.add("opened");
    return send(reply, frame, pages.registrationPage(frame));
  });
  flow.post<Opened & { Body: { readonly name: string } }>(
    flowPath,
    { schema: { hide: true, body: formSchema("name") } },
    async ({ body, query }, reply) => {
      const frame = frameOf(dependencies);
      const choices = choicesIn(query);
      const name = body.name.trim();
      if (name === "" || name.length > 100) {
        reply.code(422);
        return send(reply, frame, pages.registrationPage(frame, "Enter your name, in 1 to 100 characters."));
      }
      analytics.add("registered");
      return reply.redirect(`${flowPath}/${model.registerUser({ name, ...choices }).session}`, 303);
    },
  );
}

/**
 * Parses the operator's choices from its link to the flow. The form is sent to the same URL, including the
 * query.
 */
function choicesIn(query: Opened["Querystring"]): Pick<Registration, "accountAlert" | "metadata"> {
  return { ...alertChoice(query), ...metadataIn(query) };
}

const mostMetadata = 10_000;
const givenMetadata = z.record(z.string(), z.unknown());

/** Parses `?metadata={"loan_id":"L-1"}`, percent-encoded: the operator's data about the user. */
function metadataIn({ metadata }: Opened["Querystring"]): Pick<Registration, "metadata"> {
  if (metadata === undefined) return {};
  try {
    if (typeof metadata === "string" && metadata.length <= mostMetadata)
      return { metadata: givenMetadata.parse(JSON.parse(metadata)) };
  } catch {}
  throw new ApiError(400, "invalid_request", "The link is wrong: metadata is a JSON object.");
}

/**
 * Parses `?account_alert=false` in the operator's link: no event announces accounts created in this flow;
 * `true`: one does.
 */
function alertChoice({ account_alert: choice }: Opened["Querystring"]): Pick<Registration, "accountAlert"> {
  switch (choice) {
    case undefined:
      return {};
    case "true":
    case "false":
      return { accountAlert: choice === "true" };
    default:
      throw new ApiError(400, "invalid_request", "The link is wrong: account_alert is true or false.");
  }
}

function choiceRoute(flow: FastifyInstance, dependencies: FlowDependencies): void {
  const { model, analytics } = dependencies;
  flow.get<InSession & { Querystring: { readonly q?: unknown } }>(
    `${flowPath}/:session`,
    { schema: { hide: true } },
    async ({ params, query }, reply) => {
      const frame = frameOf(dependencies);
      const user = userOf(model, params.session);
      const searched = typeof query.q === "string" ? query.q.trim().slice(0, 100) : "";
      if (searched !== "") analytics.add("searched");
      const found = offered(dependencies).filter(({ name }) =>
        name.toLowerCase().includes(searched.toLowerCase()),
      );
      const accounts = model.accountsOf(user.id);
      return send(
        reply,
        frame,
        pages.choicePage(frame, { user, query: searched, datasources: found, accounts }),
      );
    },
  );
}

function credentialsRoutes(flow: FastifyInstance, dependencies: FlowDependencies): void {
  const { model, analytics, signIns } = dependencies;
  const path = `${flowPath}/:session/datasources/:datasource_id`;
  const find = ({ session, datasource_id }: AtDatasource["Params"]) => {
    const frame = frameOf(dependencies);
    return { frame, user: userOf(model, session), datasource: datasourceOf(dependencies, datasource_id) };
  };
  flow.get<AtDatasource>(path, { schema: { hide: true } }, async ({ params }, reply) => {
    const { frame, user, datasource } = find(params);
    analytics.add("chosen", datasource.id);
    return send(reply, frame, pages.credentialsPage(frame, user, datasource));
  });
  flow.post<AtDatasource & { Body: Credentials }>(
    path,
    { schema: { hide: true, body: formSchema("username", "password") } },
    async ({ params, body }, reply) => {
      const { frame, user, datasource } = find(params);
      if (body.username === "" || body.password === "") {
        reply.code(422);
        const error = "Enter your username and your password.";
        return send(reply, frame, pages.credentialsPage(frame, user, datasource, error));
      }
      const account = signIns.start(user.id, datasource, body);
      return reply.redirect(`${flowPath}/${user.session}/accounts/${account.id}`, 303);
    },
  );
}

function accountRoutes(flow: FastifyInstance, dependencies: FlowDependencies): void {
  const { model, signIns } = dependencies;
  const find = ({ session, account_id }: AtAccount["Params"]) => {
    const user = userOf(model, session);
    const account = model.accountsOf(user.id).find(({ id }) => id === account_id);
    if (account === undefined) throw notFound("There is no such account.");
    return { user, account, state: signIns.stateOf(account) };
  };
  const path = `${flowPath}/:session/accounts/:account_id`;
  flow.get<AtAccount>(path, { schema: { hide: true } }, async ({ params }, reply) => {
    const frame = frameOf(dependencies);
    const { user, account, state } = find(params);
    return send(reply, frame, pages.accountPage(frame, user, account, state));
  });
  flow.get<AtAccount>(`${path}/progress`, { schema: { hide: true } }, async ({ params }, reply) => {
    const { user, account, state } = find(params);
    reply.header("cache-control", "no-store");
    const markup = pages.progressOf(user, account, state).text;
    return { status: state.status, title: pages.titleOf(state, account), markup };
  });
}

function userOf(model: ProviderModel, session: string): User {
  const user = model.userOfSession(session);
  if (user === undefined) {
    throw new ApiError(410, "gone", "This link is unknown or has expired. Ask for a new one.");
  }
  return user;
}

function offered({ branding, datasources }: FlowDependencies): readonly Datasource[] {
  return branding.datasources ?? datasources;
}

function datasourceOf(dependencies: FlowDependencies, id: string): Datasource {
  const datasource = offered(dependencies).find((known) => known.id === id);
  if (datasource === undefined) throw notFound("There is no such platform. Go back and choose another.");
  return datasource;
}

/** @throws 409 in production until the operator has set up the branding */
function frameOf({ branding, production }: FlowDependencies): pages.PageFrame {
  const look = lookOf(branding, production);
  if ("missing" in look) {
    const fields = look.missing.join(", ");
    throw new ApiError(
      409,
      "not_set_up",
      `Production needs a logo and customizations. Still missing: ${fields}.`,
    );
  }
  return { look, production, nonce: randomBytes(16).toString("base64url") };
}

function send(reply: FastifyReply, { nonce }: pages.PageFrame, markup: string): FastifyReply {
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "img-src data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return (
    reply
      .header("content-security-policy", policy.join("; "))
      .header("cache-control", "no-store")
      // The session in the URL is a credential.
      .header("referrer-policy", "no-referrer")
      .header("x-content-type-options", "nosniff")
      .type("text/html; charset=utf-8")
      .send(markup)
  );
}

const plainLook: Look = { name: "Connection flow", logo: "", accentColor: "#334155" };

function sendErrorPage(error: unknown, reply: FastifyReply, { branding, production }: FlowDependencies) {
  const look = lookOf(branding, production);
  const nonce = randomBytes(16).toString("base64url");
  const frame = { look: "missing" in look ? plainLook : look, production, nonce };
  const { status, title, text } = explain(error);
  reply.code(status);
  return send(reply, frame, pages.errorPage(frame, title, text));
}

const titles: Readonly<Record<string, string>> = {
  not_set_up: "This page is not set up yet",
  invalid_request: "This link is wrong",
};

function explain(error: unknown) {
  if (error instanceof ApiError) {
    return {
      status: error.status,
      title: titles[error.code] ?? "This page is not here",
      text: error.message,
    };
  }
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status >= 500) return { status: 500, title: "Something went wrong", text: "Try again in a moment." };
  return { status, title: "This could not be read", text: "Go back, fill in the form and send it again." };
}

/** Schema of a form with these text fields only. */
function formSchema(...names: readonly string[]) {
  return bodySchema(
    names,
    Object.fromEntries(names.map((name) => [name, { type: "string", maxLength: 1000 }])),
  );
}

function acceptForms(flow: FastifyInstance): void {
  flow.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: 16_384 },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
}
