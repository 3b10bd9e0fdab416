import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { freePorts, run, type Source, start, startSource } from "../support/installed-app.ts";
import { describeLambdaSubscriber } from "./lambda-subscriber.ts";

const examples = join(import.meta.dirname, "../../examples");
const versions = z.record(z.string(), z.string());
const manifest = z.object({ dependencies: versions, devDependencies: versions });
/** Packages of this repository, installed from their files. */
const own = /^@income-events\/(.*)$/;

/** Folders of the examples that are CDK apps. */
const exampleNames = globSync("*/cdk.json", { cwd: examples }).map(dirname).sort();

const pair = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });
const pipeline = z.object({
  region: z.string(),
  endpoints: z.object({ api: z.url(), sqs: z.url() }),
  webhookHeaders: z.record(z.string(), z.string()),
  queues: z.record(z.string(), z.url()),
  subscribers: z.record(z.string(), z.object({ queueUrl: z.url(), credentials: pair })),
});
const addresses = pipeline.extend({ pipelines: z.record(z.string(), pipeline).default({}) });
type Pipeline = z.output<typeof pipeline>;

/** Output of the examples' subscriber for a document. */
const income = / (company-)?account\/\S+ \d{4}-\d{2}-\d{2} \d+\.\d{2} USD$/;
/** first-event.test.ts tests and runs the app that `init` writes. */
const tested = exampleNames.filter((name) => name !== "minimal");

describe("the examples, installed once from the packages' files in a folder elsewhere", () => {
  let folder: string;
  let source: Source;
  beforeAll(async () => {
    source = await startSource("somebody's examples ");
    folder = source.folder;
    await installExamples(source, folder);
  });
  afterAll(() => source?.[Symbol.asyncDispose]());

  const dev = (name: string) => {
    const file = join(folder, name, "addresses.json");
    const options = ["--users", "1", "--json", file, ...freePorts];
    const running = start(source, join(folder, name), ["npm", "run", "dev", "--", ...options]);
    return { running, known: () => addresses.parse(JSON.parse(readFileSync(file, "utf8"))) };
  };

  it("ask the registry for nothing that is not locked, nor for a package of ours", () => {
    expect(source.registry.unknown()).toEqual([]);
  });

  it("are of types that hold", async () => {
    const common = JSON.parse(readFileSync(join(folder, "minimal/tsconfig.json"), "utf8"));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...common, include: ["*/*.ts"] }));
    await run(source, folder, ["npx", "tsc"]);
  });

  it.each(tested)("pass their own test, and are synthesized without a finding: %s", async (name) => {
    const example = join(folder, name);
    expect(await run(source, example, ["npm", "test"])).toContain("fail 0");
    expect(await run(source, example, ["npm", "run", "synth"])).not.toMatch(/\b(error|warning)\b/i);
    expect(globSync("cdk.out/**/*.template.json", { cwd: example })).not.toEqual([]);
  });

  it("run a pipeline beside an app's own key, topic and tags: a new user comes to billing", async () => {
    const { running, known } = dev("own-resources");
    await using _running = running;
    await running.printed(/^billing \| user\.created/);
    await running.printed(income);
    const id = await deliver(known());
    await running.printed(new RegExp(`^billing \\| user\\.created user/${id}$`));
  });

  it("run two pipelines of one stack: each gets its own provider's events, and takes no other's", async () => {
    const { running, known } = dev("two-providers");
    await using _running = running;
    await running.printed(/^Payroll\/billing \| user\.created/);
    await running.printed(/^Benefits\/billing \| user\.created/);
    const { Payroll, Benefits } = known().pipelines;
    if (Payroll === undefined || Benefits === undefined) throw new Error("two pipelines were to run");
    const [ofPayroll, ofBenefits] = [await deliver(Payroll), await deliver(Benefits)];
    await running.printed(new RegExp(`^Payroll/billing \\| user\\.created user/${ofPayroll}$`));
    await running.printed(new RegExp(`^Benefits/billing \\| user\\.created user/${ofBenefits}$`));
    expect(running.output()).not.toMatch(new RegExp(`^Benefits/.*${ofPayroll}`, "m"));
    expect(running.output()).not.toMatch(new RegExp(`^Payroll/.*${ofBenefits}`, "m"));

    expect((await post(Benefits, Payroll.webhookHeaders, crypto.randomUUID())).status).toBe(401);
    const sqs = new SQSClient({
      region: Payroll.region,
      endpoint: Payroll.endpoints.sqs,
      credentials: Payroll.subscribers.billing?.credentials ?? { accessKeyId: "", secretAccessKey: "" },
    });
    const QueueUrl = Benefits.subscribers.billing?.queueUrl;
    await expect(sqs.send(new GetQueueAttributesCommand({ QueueUrl }))).rejects.toThrow();
    sqs.destroy();

    const npx = ["npx", "--no", "--offline", "income-events"];
    const subscribers = [...npx, "status", "--section", "subscribers", "--json"];
    const listed = (...flags: string[]) =>
      run(source, join(folder, "two-providers"), [...subscribers, ...flags]);
    expect(await listed("--pipeline", "Benefits")).toContain("BenefitsSubscriberBillingQueue");
    expect(await listed("--stage", "payroll-local")).toContain("PayrollSubscriberBillingQueue");
    await expect(listed()).rejects.toThrow(/Choose one with:\n.* --pipeline /);
    // Each pipeline has its own history, from its functions' logs.
    const history = ["events", "list", "--since", "1h", "--json", "--pipeline", "Benefits"];
    const events = await run(source, join(folder, "two-providers"), [...npx, ...history]);
    expect(events).toContain(ofBenefits);
    expect(events).not.toContain(ofPayroll);
  });

  it("run a subscriber as a role of another account, which reads its queue and documents", async () => {
    const { running, known } = dev("other-account");
    await using _running = running;
    await running.printed(/^risk \| user\.created/);
    await running.printed(income);
    const { region, endpoints, queues, subscribers } = known();
    const credentials = subscribers.risk?.credentials ?? { accessKeyId: "", secretAccessKey: "" };
    const options = { region, endpoint: endpoints.sqs, credentials };
    const sts = new STSClient(options);
    expect((await sts.send(new GetCallerIdentityCommand())).Account).toBe("210987654321");
    const sqs = new SQSClient(options);
    const others = sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queues["subscriber-risk-dead-letter"] }),
    );
    await expect(others).rejects.toThrow(/not authorized/);
    sqs.destroy();
    sts.destroy();
  });

  describeLambdaSubscriber(() => folder);
});

/** @returns the new user's id */
async function deliver(to: Pipeline): Promise<string> {
  const id = crypto.randomUUID();
  expect((await post(to, to.webhookHeaders, id)).status).toBe(202);
  return id;
}

function post(
  { endpoints }: Pipeline,
  headers: Readonly<Record<string, string>>,
  id: string,
): Promise<Response> {
  const body = JSON.stringify({ action: "create_user", data: { id } });
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
  return fetch(`${endpoints.api}/webhooks/users`, init);
}

/**
 * Installs the dependencies of all examples into one folder with the examples below it, where Node finds
 * them.
 * @throws if two examples need different versions of a package
 */
async function installExamples(source: Source, folder: string): Promise<void> {
  const all = new Map<string, string>();
  for (const name of exampleNames) {
    cpSync(join(examples, name), join(folder, name), { recursive: true });
    const text = readFileSync(join(folder, name, "package.json"), "utf8");
    const { dependencies, devDependencies } = manifest.parse(JSON.parse(text));
    for (const [wanted, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      const known = all.get(wanted) ?? version;
      if (known !== version) throw new Error(`${wanted}: ${known}, and ${version} in ${name}`);
      all.set(wanted, version);
    }
  }
  const dependencies = [...all].map(([name, version]) => {
    const [, file] = own.exec(name) ?? [];
    return [name, file === undefined ? version : `file:${source.fileOf(file)}`];
  });
  const content = { name: "examples", private: true, dependencies: Object.fromEntries(dependencies) };
  writeFileSync(join(folder, "package.json"), JSON.stringify(content));
  await run(source, folder, ["npm", "install"]);
}
