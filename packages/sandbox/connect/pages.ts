import type { Account, User } from "../accounts.ts";
import { type Category, categories, type Datasource } from "../datasources.ts";
import type { Look } from "./branding.ts";
import { testPassword } from "./credentials.ts";
import type { SignInState } from "./sign-ins.ts";
import { styleOf } from "./style.ts";

export type PageFrame = {
  readonly look: Look;
  readonly production: boolean;
  /** CSP nonce for this page's style and script. */
  readonly nonce: string;
};

const steps = ["You", "Platform", "Sign in", "Connect"] as const;
type Step = (typeof steps)[number];

type Content = {
  readonly title: string;
  readonly step?: Step;
  readonly main: Markup;
  readonly script?: string;
};

function page({ look, production, nonce }: PageFrame, { title, step, main, script }: Content): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${look.name}</title>
<style nonce="${nonce}">${new Markup(styleOf(look.accentColor))}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${production ? undefined : html`<aside class="notice" aria-label="Environment"><p>Sandbox: made-up data. Test credentials only.</p></aside>`}
<div class="card">
<header>${look.logo === "" ? undefined : html`<img src="${look.logo}" alt="">`}<p>${look.name}</p></header>
<main id="main">
${step === undefined ? undefined : stepList(step)}
${main}
</main>
</div>
<footer><p>Your sign-in details are used once to connect and are never kept.</p></footer>
${script === undefined ? undefined : html`<script nonce="${nonce}">${new Markup(script)}</script>`}
</body>
</html>`.text;
}

function stepList(current: Step): Markup {
  const position = steps.indexOf(current);
  const items = steps.map((name, index) => {
    if (index === position) return html`<li aria-current="step">${name}</li>`;
    return html`<li class="${index < position ? "past" : ""}">${name}</li>`;
  });
  return html`<ol class="steps" aria-label="Steps">${items}</ol>`;
}

function alert(error: string | undefined): Markup | undefined {
  return error === undefined ? undefined : html`<p class="alert" role="alert" id="error">${error}</p>`;
}

export function registrationPage(frame: PageFrame, error?: string): string {
  const invalid = error === undefined ? undefined : html` aria-invalid="true" aria-describedby="error"`;
  return page(frame, {
    title: "Register",
    step: "You",
    main: html`<h1>Let’s connect your income</h1>
<p class="lead">${frame.look.name} asks to see what you earn. You choose the platforms, and you can stop at any time.</p>
${alert(error)}
<form method="post">
<label for="name">Your name</label>
<input id="name" name="name" autocomplete="name" maxlength="100" required${invalid}>
<button class="button" type="submit">Continue</button>
</form>`,
  });
}

const categoryNames: Readonly<Record<Category, string>> = {
  payroll: "Payroll",
  "driving-and-delivery": "Driving and delivery",
  freelance: "Freelance",
};

export type Choice = {
  readonly user: User;
  readonly query: string;
  readonly datasources: readonly Datasource[];
  readonly accounts: readonly Account[];
};

export function choicePage(frame: PageFrame, { user, query, datasources, accounts }: Choice): string {
  const count = datasources.length;
  const groups = categories.map((category) => {
    const own = datasources.filter((datasource) => datasource.category === category);
    if (own.length === 0) return html``;
    return html`<section><h2>${categoryNames[category]}</h2>
<ul class="tiles">${own.map((datasource) => tile(user, datasource, accounts))}</ul></section>`;
  });
  return page(frame, {
    title: "Choose a platform",
    step: "Platform",
    main: html`<h1>Where do you earn?</h1>
<p class="lead">${user.name === "" ? "Welcome." : `Welcome, ${user.name}.`} Pick the platform that pays you.</p>
<form class="search" role="search" method="get" action="/connect/${user.session}">
<div><label for="query">Search platforms</label>
<input id="query" name="q" type="search" value="${query}" maxlength="100" autocomplete="off"></div>
<button class="button" type="submit">Search</button>
</form>
<p class="lead" role="status" id="count">${countText(count)}</p>
${groups}`,
  });
}

function countText(count: number): string {
  if (count === 0) return "No platform has this name. Try fewer letters.";
  return count === 1 ? "1 platform" : `${count} platforms`;
}

function tile(user: User, datasource: Datasource, accounts: readonly Account[]): Markup {
  const account = accounts.find((known) => known.datasource.id === datasource.id);
  const tag =
    account === undefined
      ? undefined
      : html`<span class="tag${account.connected ? "" : " off"}">${account.connected ? "Connected" : "Not connected"}</span>`;
  return html`<li><a class="tile" href="/connect/${user.session}/datasources/${datasource.id}">
<span class="initial" aria-hidden="true">${datasource.name.slice(0, 1)}</span><span>${datasource.name}</span>${tag}</a></li>`;
}

export function credentialsPage(
  frame: PageFrame,
  user: User,
  datasource: Datasource,
  error?: string,
): string {
  const hint = html`<div class="hint"><p>In the sandbox sign in as <strong>test-user</strong> with the password
<strong>${testPassword}</strong>. To see it fail: <strong>test-locked</strong> or <strong>test-unavailable</strong>.</p></div>`;
  return page(frame, {
    title: `Sign in to ${datasource.name}`,
    step: "Sign in",
    main: html`<h1>Sign in to ${datasource.name}</h1>
<p class="lead">Use the details that you sign in to ${datasource.name} with.</p>
${alert(error)}
${frame.production ? undefined : hint}
<form method="post" action="/connect/${user.session}/datasources/${datasource.id}">
<label for="username">Username</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="200" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="200" required>
<button class="button" type="submit">Connect ${datasource.name}</button>
</form>
<a class="button quiet" href="/connect/${user.session}">Choose another platform</a>`,
  });
}

/** Progress of the account's creation and connection, or the reason for its failure. */
export function accountPage(frame: PageFrame, user: User, account: Account, state: SignInState): string {
  return page(frame, {
    title: titleOf(state, account),
    step: "Connect",
    main: html`<h1>Your ${account.datasource.name} account</h1>
<div id="progress" role="status" data-status="${state.status}">${progressOf(user, account, state)}</div>`,
    script: progressScript,
  });
}

export function titleOf({ status }: SignInState, { datasource }: Account): string {
  switch (status) {
    case "signing-in":
      return `Connecting ${datasource.name}`;
    case "connected":
      return `${datasource.name} is connected`;
    case "refused":
      return `${datasource.name} is not connected`;
  }
}

export function progressOf(user: User, account: Account, state: SignInState): Markup {
  const { name, id } = account.datasource;
  const created = html`<li><span class="mark" aria-hidden="true">✓</span>Account created</li>`;
  const another = html`<a class="button quiet" href="/connect/${user.session}">Connect another platform</a>`;
  switch (state.status) {
    case "signing-in":
      return html`<ul class="progress">${created}
<li><span class="mark busy" aria-hidden="true"></span>Signing in to ${name}…</li></ul>
<noscript><a class="button quiet" href="">Look again</a></noscript>`;
    case "connected":
      return html`<ul class="progress">${created}
<li><span class="mark" aria-hidden="true">✓</span>Connected to ${name}</li></ul>
<p>That’s all. Your income data is on its way; you can close this page.</p>${another}`;
    case "refused":
      return html`<ul class="progress">${created}
<li><span class="mark bad" aria-hidden="true">!</span>Not connected to ${name}</li></ul>
<p class="alert">${state.reason}</p>
<a class="button" href="/connect/${user.session}/datasources/${id}">Try again</a>${another}`;
  }
}

/** Final error page: an unknown or expired link, or a flow that is not set up. */
export function errorPage(frame: PageFrame, title: string, text: string): string {
  return page(frame, { title, main: html`<h1>${title}</h1><p>${text}</p>` });
}

/** Safe markup, created only by `html`, which escapes every other value. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Markup | readonly Markup[] | string | number | undefined;

/**
 * Creates markup: `` html`<p>${name}</p>` ``. Escapes values for text and quoted attributes; undefined
 * renders nothing.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(parts.map((part, index) => part + show(values[index])).join(""));
}

function show(value: Value): string {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return escapeText(String(value));
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Updates the progress; without scripts, the end user reloads the page. */
const progressScript = `
const progress = document.getElementById("progress");
async function look() {
  const response = await fetch(location.pathname + "/progress");
  if (!response.ok) return location.reload();
  const { status, title, markup } = await response.json();
  if (status !== progress.dataset.status) {
    progress.dataset.status = status;
    progress.innerHTML = markup;
    document.title = title;
  }
  if (status === "signing-in") setTimeout(look, 300);
}
if (progress.dataset.status === "signing-in") setTimeout(look, 300);
`;
