import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { changesSince, missingNotes } from "../../scripts/upgrades/changes.ts";
import { type Release, readReleases, type Summary, summarize } from "../../scripts/upgrades/release.ts";
import { customDomain, keyArn } from "./synthesized.ts";

const repository = join(import.meta.dirname, "../..");
const page = readFileSync(join(repository, "docs/operate/upgrading.md"), "utf8");
const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
const releases = readReleases(join(import.meta.dirname, "releases"));
const newest = releases.at(-1);
if (newest === undefined) throw new Error("no release is recorded in test/lib/releases");

describe("an upgrade from each release", () => {
  it("can start from the version of package.json: its templates are recorded", () => {
    const remedy = "record what is released: node scripts/upgrades/main.ts";
    expect(
      releases.map((release) => release.version),
      remedy,
    ).toContain(version);
  });

  it.each(releases)(
    "from $version neither replaces nor deletes resources with data, and its notes name all other changes",
    (release) => {
      const { forbidden, toNote } = changesSince(release, summarize);
      expect(forbidden, "what holds data keeps its logical id and what would replace it").toEqual([]);
      const missing = missingNotes(page, release.version, toNote);
      const remedy = `docs/operate/upgrading.md lacks these below "From ${release.version}": write each, and what to do`;
      expect(missing, remedy).toEqual([]);
    },
  );
});

it("resources that hold data stay what they are when other settings change", () => {
  const production = newest.stages.filter(({ name }) => name === "production");
  const { forbidden } = changesSince({ ...newest, stages: production }, (stage) =>
    summarize({ ...stage, settings: otherSettings }),
  );
  expect(production).toHaveLength(1);
  expect(forbidden).toEqual([]);
});

describe("a change since a release", () => {
  const since = (change: (today: Summary) => void) =>
    changesSince(newest, ({ template }) => {
      const today = structuredClone(template);
      change(today);
      return today;
    });
  const idOf = ({ Resources }: Summary, name: RegExp) => {
    const [id = ""] = Object.keys(Resources).filter((each) => name.test(each));
    return id;
  };
  const change = (name: RegExp, properties: object) => (today: Summary) => {
    const resource = today.Resources[idOf(today, name)];
    Object.assign(resource?.Properties ?? {}, properties);
  };
  const rename = (name: RegExp) => (today: Summary) => {
    const id = idOf(today, name);
    const { [id]: resource, ...others } = today.Resources;
    if (resource !== undefined) today.Resources = { ...others, Renamed01234567: resource };
  };
  const removeOutput = (today: Summary) => {
    today.Outputs = Object.fromEntries(
      Object.entries(today.Outputs).filter(([name]) => !name.endsWith("DocumentsUrl")),
    );
  };

  it.each([
    ["a renamed table", rename(/EventsTable/), "`EventsTable` (AWS::DynamoDB::GlobalTable) would be removed"],
    [
      "another key of the table",
      change(/EventsTable/, { KeySchema: [{ AttributeName: "id", KeyType: "HASH" }] }),
      "`EventsTable` (AWS::DynamoDB::GlobalTable) would be replaced",
    ],
    [
      "a queue's new order",
      change(/UsersWorkQueue/, { FifoQueue: true }),
      "`UsersWorkQueue` (AWS::SQS::Queue) would be replaced",
    ],
    [
      "a bucket's new name",
      change(/ArchiveBucket/, { BucketName: "archive" }),
      "`ArchiveBucket` (AWS::S3::Bucket) would be replaced",
    ],
    [
      "a secret with another value",
      change(/WebhookSecret/, { GenerateSecretString: { PasswordLength: 64 } }),
      "`WebhookSecret` (AWS::SecretsManager::Secret) would be generated anew",
    ],
    [
      "a function under another name, to whose address messages refer",
      change(/ReadDocumentsFunctionFunctionUrl/, { TargetFunctionArn: "another" }),
      "`ReadDocumentsFunctionFunctionUrl` (AWS::Lambda::Url) would be replaced",
    ],
  ])("of a resource with data is refused, whatever the notes say: %s", (_, planted, sentence) => {
    expect(since(planted).forbidden).toEqual([sentence]);
  });

  it.each([
    ["an output that is gone", removeOutput, "The output `DocumentsUrl` is gone."],
    [
      "an output of something else",
      (today: Summary) => {
        for (const name of Object.keys(today.Outputs))
          if (name.endsWith("TableName")) today.Outputs[name] = ["Another"];
      },
      "The output `TableName` names something else.",
    ],
    [
      "a queue's shorter retention",
      change(/UsersWorkQueue/, { MessageRetentionPeriod: 60 }),
      "`UsersWorkQueue` (AWS::SQS::Queue) has another `MessageRetentionPeriod`.",
    ],
    [
      "a bucket that a deletion takes along",
      (today: Summary) => {
        Object.assign(today.Resources[idOf(today, /ArchiveBucket/)] ?? {}, { DeletionPolicy: "Snapshot" });
      },
      "`ArchiveBucket` (AWS::S3::Bucket) has another `DeletionPolicy`.",
    ],
    [
      "a renamed alarm",
      rename(/ReceivingRefusedAlarm/),
      "`ReceivingRefusedAlarm` (AWS::CloudWatch::Alarm) is removed.",
    ],
    [
      "a role with a name of its own",
      change(/RelayChangesRole/, { RoleName: "relay" }),
      "`RelayChangesRole` (AWS::IAM::Role) is replaced.",
    ],
    [
      "a parameter without a default",
      (today: Summary) => {
        today.Parameters.Vpc = { Type: "String" };
      },
      "The parameter `Vpc` is needed.",
    ],
    [
      "a parameter that is gone",
      (today: Summary) => {
        today.Parameters = { BootstrapVersion: today.Parameters.BootstrapVersion ?? {} };
      },
      "The parameter `ProviderBaseUrl` is gone.",
    ],
    [
      "a parameter that takes less",
      (today: Summary) => {
        for (const parameter of Object.values(today.Parameters))
          if (parameter.MaxLength !== undefined) parameter.MaxLength = 9;
      },
      "The parameter `ProviderBaseUrl` takes other values.",
    ],
    [
      "a service that was not used",
      (today: Summary) => void today.types.push("AWS::KMS::Key"),
      "Who deploys needs the permission to create `AWS::KMS::Key`.",
    ],
    [
      "a newer bootstrap",
      (today: Summary) => {
        today.Rules = {};
      },
      "The account needs another version of CDK's bootstrap.",
    ],
  ])("must be in the notes of its version, and only there: %s", (_, planted, sentence) => {
    const { forbidden, toNote } = since(planted);
    expect(forbidden).toEqual([]);
    expect(toNote).toEqual([sentence]);
    const wrapped = sentence.replaceAll(" ", "\n  ");
    expect(missingNotes("## From 1.0.0\n\nNothing.\n\n## From 1.1.0\n", "1.0.0", toNote)).toEqual([sentence]);
    expect(missingNotes(`## From 1.0.0\n\n- ${wrapped} Do this.\n`, "1.0.0", toNote)).toEqual([]);
    expect(missingNotes(`## From 1.1.0\n\n- ${sentence}\n\n## From 1.0.0\n`, "1.0.0", toNote)).toEqual([
      sentence,
    ]);
  });

  it("that refuses settings of the release is refused, in the words of the settings", () => {
    const stages: Release["stages"] = newest.stages.map((stage) => ({
      ...stage,
      settings: { ...Object(stage.settings), formerly: true },
    }));
    const { forbidden } = changesSince({ ...newest, stages }, summarize);
    expect(forbidden).toHaveLength(newest.stages.length);
    expect(forbidden[0]).toMatch(/would be refused: [\s\S]*formerly: no such setting/);
  });

  it("has a heading for each release, which the notes must have", () => {
    expect(missingNotes("## Rules\n", "1.0.0", [])).toEqual(["## From 1.0.0"]);
  });
});

/** In another order, with other readers, filters, limits and times. */
const otherSettings = {
  production: false,
  alarms: { emails: ["on-call@example.com"] },
  provider: {
    environment: "production",
    baseUrls: { production: "https://api.income-provider.com" },
    requestsPerMinute: 3,
    versions: { api: "v9" },
  },
  webhooks: {
    secretHeader: "x-other",
    maxBodyBytes: 99_999,
    customDomain,
  },
  mapping: { users: { ids: "any" } },
  subscribers: [
    { name: "risk", principals: [], types: ["user.*"], retentionDays: 1, visibilityTimeoutSeconds: 9 },
    { name: "billing" },
  ],
  relay: { batchSize: 1, retryAttempts: 1 },
  fetch: { maxConcurrency: 2, retry: { maxSeconds: 10 }, longestOutageHours: 1 },
  token: { refreshEveryMinutes: 60 },
  register: { everyHours: 1 },
  retention: { eventsDays: 99, failuresDays: 99, logsDays: 1 },
  functions: { receive: { reservedConcurrency: 7 }, store: { timeoutSeconds: 99, memoryMb: 1024 } },
  accountConcurrency: 1_000,
  encryption: { keyArn },
};
