import {
  CreateSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  InvalidParameterException,
  InvalidRequestException,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { generateSecretString } from "@income-events/local-stack/engines/secret-string.ts";
import { afterAll, describe, expect, test } from "vitest";
import { clients, startLocalSystem } from "../gateway/local-system.ts";

let created = 0;

const system = await startLocalSystem();
afterAll(() => system.close());
const { secrets: client } = clients(system, system.operator);

const first = "first-version-00000000000000000000";
const second = "second-version-0000000000000000000";
const third = "third-version-00000000000000000000";
const [current, previous, pending] = ["AWSCURRENT", "AWSPREVIOUS", "AWSPENDING"] as const;

/** A secret whose AWSCURRENT is `first`. */
async function newSecret(): Promise<string> {
  created += 1;
  const Name = `token-${created}`;
  await client.send(new CreateSecretCommand({ Name, SecretString: "one", ClientRequestToken: first }));
  return Name;
}

const read = (SecretId: string, input: object = {}) =>
  client.send(new GetSecretValueCommand({ SecretId, ...input }));

async function put(SecretId: string, ClientRequestToken: string, ...VersionStages: string[]) {
  const value = { [first]: "changed", [second]: "two", [third]: "three" }[ClientRequestToken];
  const stages = VersionStages.length > 0 && { VersionStages };
  const input = { SecretId, ClientRequestToken, SecretString: value, ...stages };
  return client.send(new PutSecretValueCommand(input));
}

async function move(SecretId: string, VersionStage: string, to?: string, from?: string) {
  const input = { SecretId, VersionStage, MoveToVersionId: to, RemoveFromVersionId: from };
  return client.send(new UpdateSecretVersionStageCommand(input));
}

type Case<T> = readonly [string, (secretId: string) => Promise<unknown>, T];

describe("versions and labels", () => {
  test.each<Case<Readonly<Record<string, readonly string[]>>>>([
    ["a new secret's value is AWSCURRENT", read, { [first]: [current] }],
    [
      "a value put without labels becomes AWSCURRENT and the one before AWSPREVIOUS",
      (id) => put(id, second),
      { [first]: [previous], [second]: [current] },
    ],
    [
      "the same token with the same value is done once, and moves no label",
      (id) => put(id, second, pending).then(() => put(id, second)),
      { [first]: [current], [second]: [pending] },
    ],
    [
      "AWSCURRENT moves from the version named, which becomes AWSPREVIOUS",
      (id) => put(id, second, pending).then(() => move(id, current, second, first)),
      { [first]: [previous], [second]: expect.arrayContaining([current, pending]) },
    ],
    [
      "moving back makes the version that it left AWSPREVIOUS",
      (id) => put(id, second).then(() => move(id, current, first, second)),
      { [first]: [current], [second]: [previous] },
    ],
    [
      "another label than AWSCURRENT can be removed altogether",
      (id) => put(id, second, pending).then(() => move(id, pending, undefined, second)),
      { [first]: [current] },
    ],
  ])("%s", async (_, act, expected) => {
    const SecretId = await newSecret();
    await act(SecretId);
    const { VersionIdsToStages } = await client.send(new DescribeSecretCommand({ SecretId }));
    expect(VersionIdsToStages).toEqual(expected);
  });

  test("a newer AWSPENDING takes the label; the version without labels is deprecated, and can still be read", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, pending);
    await put(SecretId, third, pending);
    const { VersionIdsToStages } = await client.send(new DescribeSecretCommand({ SecretId }));
    expect(VersionIdsToStages).toEqual({ [first]: [current], [third]: [pending] });
    expect((await read(SecretId, { VersionId: second })).SecretString).toBe("two");
  });

  test.each<Case<string | (new (...input: never[]) => Error)>>([
    ["the same token with another value", (id) => put(id, first), ResourceExistsException],
    [
      "moving a label that is elsewhere without naming where from",
      (id) => put(id, second, pending).then(() => move(id, current, second)),
      `Staging label AWSCURRENT is currently attached to version ${first}`,
    ],
    [
      "moving a label to a version that is not there",
      (id) => move(id, current, third, first),
      ResourceNotFoundException,
    ],
    [
      "removing AWSCURRENT altogether",
      (id) => move(id, current, undefined, first),
      InvalidParameterException,
    ],
    [
      "a name that is used",
      (Name) => client.send(new CreateSecretCommand({ Name })),
      ResourceExistsException,
    ],
    ["reading a secret that is not there", () => read("nowhere"), ResourceNotFoundException],
    [
      "reading a label that is not there",
      (id) => read(id, { VersionStage: pending }),
      ResourceNotFoundException,
    ],
    [
      "reading a version that is not there",
      (id) => read(id, { VersionId: third }),
      ResourceNotFoundException,
    ],
    [
      "reading a label on another version",
      (id) => read(id, { VersionId: first, VersionStage: previous }),
      InvalidRequestException,
    ],
  ])("%s is refused and changes nothing", async (_, act, refusal) => {
    const SecretId = await newSecret();
    await expect(act(SecretId)).rejects.toThrow(refusal);
    const found = await read(SecretId);
    expect(found).toMatchObject({ SecretString: "one", VersionId: first, VersionStages: [current] });
  });

  test("of two that replace the same version, the second is refused", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, pending);
    await put(SecretId, third, "ANOTHER");
    await move(SecretId, current, second, first);
    await expect(move(SecretId, current, third, first)).rejects.toBeInstanceOf(InvalidParameterException);
    expect((await read(SecretId)).SecretString).toBe("two");
  });
});

test("a role reads its own secret only, named by name or ARN", async () => {
  const [own, other] = [await newSecret(), await newSecret()];
  const arn = system.secrets.arnOf(own) ?? "";
  const { secrets } = clients(system, system.caller("tokenreader", ["secretsmanager:GetSecretValue", arn]));
  for (const SecretId of [own, arn, arn.slice(0, -7)]) {
    expect((await secrets.send(new GetSecretValueCommand({ SecretId }))).SecretString).toBe("one");
  }
  await expect(secrets.send(new GetSecretValueCommand({ SecretId: other }))).rejects.toMatchObject({
    name: "AccessDeniedException",
    message: expect.stringContaining(
      `secretsmanager:GetSecretValue on resource: ${system.secrets.arnOf(other)}`,
    ),
  });
  await expect(
    secrets.send(new PutSecretValueCommand({ SecretId: own, SecretString: "x" })),
  ).rejects.toMatchObject({ name: "AccessDeniedException" });
});

describe("creating", () => {
  test("a password has 32 characters of every type", () => {
    for (let run = 0; run < 100; run += 1) {
      expect(generateSecretString({})).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^A-Za-z0-9]).{32}$/);
    }
  });

  test("a template without its key, and a password too short for its types, are refused", () => {
    expect(() => generateSecretString({ SecretStringTemplate: "{}" })).toThrow("GenerateStringKey together");
    expect(() => generateSecretString({ PasswordLength: 3 })).toThrow("can't be met");
  });
});
