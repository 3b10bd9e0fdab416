import { randomUUID } from "node:crypto";
import type { Call, Fault, Service } from "@income-events/local-stack/gateway/types.ts";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { expired, gone, throttled } from "../../support/refusing-aws.ts";
import { postWebhook } from "../../support/webhooks.ts";
import { type OpenedConsole, openConsole, stepsOn } from "./opened-console.ts";

const hasBrowser = findChromium() !== undefined || process.env.FORBID_SKIPS !== undefined;

/** AWS's error for a missing permission. */
const forbidden = (service: Service, action: string): Fault => ({
  status: service === "sqs" ? 403 : 400,
  errorType: service === "sqs" ? "AccessDenied" : "AccessDeniedException",
  message: `User: arn:aws:iam::000000000000:user/viewer is not authorized to perform: ${action} on resource: it`,
});

const message = "The operation cannot be performed at this time. An update is in progress.";
const deploying = (service: Service): Fault =>
  service === "lambda" ? { status: 409, errorType: "ResourceConflictException", message } : gone(service);

describe.skipIf(!hasBrowser)("the console during failures", () => {
  let opened: OpenedConsole;
  let page: Page;
  let restore: () => void = () => undefined;
  beforeAll(async () => {
    opened = await openConsole();
    page = opened.page;
  });
  afterEach(() => restore());
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
  });

  const { open } = stepsOn(() => opened);
  const panel = (name: string, on: Page = page) => on.getByRole("region", { name, exact: true });
  const alert = (of: Locator) => of.getByRole("alert");
  const ticker = (on: Page = page) => panel("Latest events", on);
  const isLive = (on: Page = page) => on.getByText("Live", { exact: true }).first().waitFor();
  const seesNoProblems = () => panel("Verdict").getByRole("heading", { name: "No problems" }).waitFor();
  /** Fails the operator's calls until restored; the functions' calls continue. */
  const refuse = (faultOf: (call: Call) => Fault | undefined) => {
    restore = opened.stage.system.stack.gateway.intercept(async (call, phase) =>
      phase === "before" && call.principal === "operator" ? faultOf(call) : undefined,
    );
  };
  /** Makes the provider announce a new user. */
  const createUser = async () => {
    const user = randomUUID();
    const body = { action: "create_user", data: { id: user } };
    expect(await postWebhook(opened.stage.system, "users", body)).toBe(202);
    return user;
  };
  /** Number of times the tail shows the user's first event. */
  const rowsOf = (user: string, on: Page = page) =>
    ticker(on)
      .getByRole("row", { name: new RegExp(` received user\\.created user/${user}$`) })
      .count();

  it.each<[what: string, faultOf: (call: Call) => Fault | undefined, told: () => Promise<void>]>([
    [
      "that the credentials have expired",
      ({ service }) => expired(service),
      async () => {
        for (const name of ["Pipeline", "Alarms"])
          await alert(panel(name))
            .getByText("The AWS credentials have expired. Run aws sso login, or set new ones.")
            .waitFor();
        // The last known values stay.
        await panel("Verdict").getByText("The AWS credentials have expired.").waitFor();
        await panel("Queues in numbers").getByRole("rowheader", { name: "users" }).first().waitFor();
      },
    ],
    [
      "that AWS asks to go slower",
      ({ service }) => throttled(service),
      () => alert(panel("Alarms")).getByText("AWS throttles the requests.").waitFor(),
    ],
    [
      "that the stage is being deployed, or a part of it is not there",
      ({ service, action }) =>
        ["lambda", "dynamodb", "streams"].includes(service) || action === "cloudwatch:DescribeAlarms"
          ? deploying(service)
          : undefined,
      () =>
        panel("Verdict")
          .getByText(/The stack is being deployed|not from the last deployment/)
          .first()
          .waitFor(),
    ],
  ])("shows %s while it lasts, and then continues", async (_, faultOf, told) => {
    await open("/");
    await seesNoProblems();
    await isLive();
    refuse(faultOf);
    await told();
    await page.getByText("Not live", { exact: true }).waitFor();
    const user = await createUser();
    restore();
    await isLive();
    await expect.poll(() => alert(page.locator("main")).count()).toBe(0);
    await seesNoProblems();
    await expect.poll(() => rowsOf(user)).toBe(1);
  });

  it("names in each panel the permission that it lacks, and shows the others", async () => {
    refuse(({ service, action }) =>
      ["cloudwatch:DescribeAlarms", "secretsmanager:DescribeSecret"].includes(action) ||
      action === "sqs:GetQueueAttributes"
        ? forbidden(service, action)
        : undefined,
    );
    await open("/");
    await alert(panel("Alarms"))
      .getByText(/The credentials do not allow this\. .*perform: cloudwatch:DescribeAlarms/)
      .waitFor();
    await alert(panel("Pipeline"))
      .getByText(/sqs:GetQueueAttributes/)
      .waitFor();
    await panel("Latest events").waitFor();
    await panel("Verdict")
      .getByText(/Your credentials don't allow /)
      .first()
      .waitFor();
    await isLive();
    await open("/dead-letters");
    await alert(panel("By queue"))
      .getByText(/sqs:GetQueueAttributes/)
      .waitFor();
    await open("/events");
    await panel("History")
      .getByText(/from the functions' logs/)
      .waitFor();
  });

  it("shows in each panel what is loading, and then its content", async () => {
    const { gateway } = opened.stage.system.stack;
    const other = await opened.start();
    const slow = new Set<() => void>();
    let isSlow = true;
    restore = gateway.intercept(async ({ principal, service }, phase) => {
      if (!isSlow || phase !== "before" || principal !== "operator" || service === "streams")
        return undefined;
      await new Promise<void>((resolve) => slow.add(resolve));
      return undefined;
    });
    const waiting = await opened.context.newPage();
    await waiting.goto(other.url);
    await panel("Verdict", waiting)
      .getByText("Reading queues, functions, token, provider and alarms.")
      .waitFor();
    for (const [name, words] of [
      ["Pipeline", "Reading the queues…"],
      ["Alarms", "Reading the alarms…"],
      ["Queues", "Reading the queues…"],
    ] as const)
      await panel(name, waiting).getByText(words, { exact: true }).waitFor();
    // Unknown values are not shown.
    expect(await panel("Pipeline", waiting).locator("dl.numbers").count()).toBe(0);
    isSlow = false;
    for (const go of slow) go();
    await panel("Verdict", waiting).getByRole("heading", { name: "No problems" }).waitFor();
    await panel("Pipeline", waiting).locator("dl.numbers").waitFor();
    await waiting.close();
  });

  it("misses and duplicates nothing after a sleep in which its stream iterators expired", async () => {
    await open("/");
    await isLive();
    const before = await createUser();
    await expect.poll(() => rowsOf(before)).toBe(1);
    opened.program.signal("SIGSTOP");
    const during = [await createUser(), await createUser()];
    const expiredOnce = new Set<string>();
    refuse(({ service, action, body }) => {
      if (action !== "dynamodb:GetRecords" || expiredOnce.has(String(body))) return undefined;
      expiredOnce.add(String(body));
      return { status: 400, errorType: "ExpiredIteratorException", message: `${service}: Iterator expired` };
    });
    opened.program.signal("SIGCONT");
    for (const user of during) await expect.poll(() => rowsOf(user)).toBe(1);
    restore();
    const after = await createUser();
    await expect.poll(() => rowsOf(after)).toBe(1);
    for (const user of [before, ...during]) expect(await rowsOf(user)).toBe(1);
  });

  it("reads nothing while the page is hidden, and then shows what arrived meanwhile, once", async () => {
    await open("/");
    await isLive();
    const show = (isShown: boolean) =>
      page.evaluate(`(() => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => ${!isShown} });
        document.dispatchEvent(new Event("visibilitychange"));
      })()`);
    await show(false);
    const { gateway } = opened.stage.system.stack;
    const reads = () => gateway.calls().get("operator dynamodb:GetRecords") ?? 0;
    const asked = () => gateway.calls().get("operator cloudwatch:GetMetricData") ?? 0;
    let before = -1;
    const more = () => {
      const now = reads() + asked();
      const since = now - before;
      before = now;
      return since;
    };
    // A read that was in progress may still arrive.
    await expect.poll(more, { interval: 1_500 }).toBe(0);
    const user = await createUser();
    await show(true);
    await expect.poll(() => rowsOf(user)).toBe(1);
    await isLive();
    expect(await rowsOf(user)).toBe(1);
  });

  it("shows events and actions of either in two tabs, and closing one does not affect the other", async () => {
    await open("/");
    const other = await opened.context.newPage();
    await other.goto(`${opened.origin}/`);
    await Promise.all([isLive(), isLive(other)]);
    const user = await createUser();
    await expect.poll(() => rowsOf(user)).toBe(1);
    await expect.poll(() => rowsOf(user, other)).toBe(1);
    await other.goto(`${opened.origin}/provider`);
    await other.getByRole("button", { name: "Reconcile now", exact: true }).click();
    await other.close();
    const next = await createUser();
    await expect.poll(() => rowsOf(next)).toBe(1);
  });

  it("shows a body of 1 MB with markup, control characters and right-to-left text as the text that it is", async () => {
    const hostile =
      "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\u202e\u0007\u2028אבג";
    const body = JSON.stringify({ action: hostile, data: { id: "x", note: "<b>".repeat(330_000) } });
    expect(Buffer.byteLength(body)).toBeGreaterThan(990_000);
    expect(await postWebhook(opened.stage.system, "users", body)).toBe(202);
    await open("/dead-letters?queue=users");
    const deadLetters = panel("Dead letters of users");
    await expect.poll(async () => (await opened.stage.run(["dlq", "list"])).stdout).toMatch(/^users +1 /m);
    await page.reload();
    await deadLetters.getByText("users event").click();
    await deadLetters.getByRole("button", { name: "Show personal data" }).click();
    const shown = deadLetters.getByLabel("The body", { exact: true });
    await shown.getByText("<script>").waitFor();
    const text = (await shown.textContent()) ?? "";
    expect(text).toContain("<img src=x onerror=");
    expect(text).toContain("\\u202e\\u0007\\u2028אבג");
    expect(text.length).toBeGreaterThan(990_000);
    expect(await page.locator("main :is(img, script, b:has(b))").count()).toBe(0);
    expect(await page.title()).toBe("Dead letters · Console");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(1280);
    await open("/mapping");
    await page.getByRole("textbox", { name: "Webhook" }).fill(body);
    await panel("Result")
      .getByText(/No event: /)
      .first()
      .waitFor();
    expect(await page.title()).toBe("Mapping · Console");
  });
});
