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

/** A secret whose AWSCURRENT is `first`. */
async function newSecret(): Promise<string> {
  created += 1;
  const Name = `token-${created}`;
  await client.send(new CreateSecretCommand({ Name, SecretString: "one", ClientRequestToken: first }));
  return Name;
}

async function put(
  SecretId: string,
  ClientRequestToken: string,
  SecretString: string,
  VersionStages?: string[],
) {
  return client.send(
    new PutSecretValueCommand({ SecretId, ClientRequestToken, SecretString, VersionStages }),
  );
}

async function move(
  SecretId: string,
  VersionStage: string,
  MoveToVersionId?: string,
  RemoveFromVersionId?: string,
) {
  const input = { SecretId, VersionStage, MoveToVersionId, RemoveFromVersionId };
  return client.send(new UpdateSecretVersionStageCommand(input));
}

async function stages(SecretId: string): Promise<Record<string, string[]> | undefined> {
  return (await client.send(new DescribeSecretCommand({ SecretId }))).VersionIdsToStages;
}

describe("versions and labels", () => {
  test("a new secret's value is AWSCURRENT", async () => {
    const SecretId = await newSecret();
    const read = await client.send(new GetSecretValueCommand({ SecretId }));
    expect(read).toMatchObject({ SecretString: "one", VersionId: first, VersionStages: ["AWSCURRENT"] });
    expect(read.CreatedDate).toBeInstanceOf(Date);
  });

  test("a value put without labels becomes AWSCURRENT and the one before AWSPREVIOUS", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, "two");
    expect(await stages(SecretId)).toEqual({ [first]: ["AWSPREVIOUS"], [second]: ["AWSCURRENT"] });
    const previous = await client.send(new GetSecretValueCommand({ SecretId, VersionStage: "AWSPREVIOUS" }));
    expect(previous.SecretString).toBe("one");
  });

  test("a newer AWSPENDING takes the label; the version without labels is deprecated, and can still be read", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, "two", ["AWSPENDING"]);
    await put(SecretId, third, "three", ["AWSPENDING"]);
    expect(await stages(SecretId)).toEqual({ [first]: ["AWSCURRENT"], [third]: ["AWSPENDING"] });
    const read = await client.send(new GetSecretValueCommand({ SecretId, VersionId: second }));
    expect(read.SecretString).toBe("two");
  });

  test("the same token with the same value is done once, and moves no label", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, "two", ["AWSPENDING"]);
    const again = await put(SecretId, second, "two");
    expect(again).toMatchObject({ VersionId: second, VersionStages: ["AWSPENDING"] });
  });

  test("the same token with another value is refused and changes nothing", async () => {
    const SecretId = await newSecret();
    await expect(put(SecretId, first, "changed")).rejects.toBeInstanceOf(ResourceExistsException);
    expect((await client.send(new GetSecretValueCommand({ SecretId }))).SecretString).toBe("one");
  });
});

describe("moving a label", () => {
  test("AWSCURRENT moves from the version named, which becomes AWSPREVIOUS", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, "two", ["AWSPENDING"]);
    await move(SecretId, "AWSCURRENT", second, first);
    expect(await stages(SecretId)).toEqual({
      [first]: ["AWSPREVIOUS"],
      [second]: expect.arrayContaining(["AWSCURRENT", "AWSPENDING"]),
    });
  });

  test("of two that replace the same version, the second is refused", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, "two", ["AWSPENDING"]);
    await put(SecretId, third, "three", ["ANOTHER"]);
    await move(SecretId, "AWSCURRENT", second, first);
    await expect(move(SecretId, "AWSCURRENT", third, first)).rejects.toBeInstanceOf(
      InvalidParameterException,
    );
    expect((await client.send(new GetSecretValueCommand({ SecretId }))).SecretString).toBe("two");
  });

  test("moving back makes the version that it left AWSPREVIOUS", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, "two");
    await move(SecretId, "AWSCURRENT", first, second);
    expect(await stages(SecretId)).toEqual({ [first]: ["AWSCURRENT"], [second]: ["AWSPREVIOUS"] });
  });

  test("a label that is elsewhere does not move without naming where from", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, "two", ["AWSPENDING"]);
    await expect(move(SecretId, "AWSCURRENT", second)).rejects.toThrow(
      `The parameter RemoveFromVersionId can't be empty. Staging label AWSCURRENT is currently attached to version ${first}`,
    );
  });

  test("AWSCURRENT can't be removed altogether, another label can", async () => {
    const SecretId = await newSecret();
    await put(SecretId, second, "two", ["AWSPENDING"]);
    await expect(move(SecretId, "AWSCURRENT", undefined, first)).rejects.toBeInstanceOf(
      InvalidParameterException,
    );
    await move(SecretId, "AWSPENDING", undefined, second);
    expect(await stages(SecretId)).toEqual({ [first]: ["AWSCURRENT"] });
  });

  test("a version that does not exist gets no label", async () => {
    const SecretId = await newSecret();
    await expect(move(SecretId, "AWSCURRENT", third, first)).rejects.toBeInstanceOf(
      ResourceNotFoundException,
    );
  });
});

describe("reading", () => {
  test.each([
    ["a secret", { SecretId: "nowhere" }, ResourceNotFoundException],
    ["a label", { VersionStage: "AWSPENDING" }, ResourceNotFoundException],
    ["a version", { VersionId: third }, ResourceNotFoundException],
    [
      "a label on another version",
      { VersionId: first, VersionStage: "AWSPREVIOUS" },
      InvalidRequestException,
    ],
  ])("%s that is not there is refused", async (_, input, refusal) => {
    const SecretId = await newSecret();
    await expect(client.send(new GetSecretValueCommand({ SecretId, ...input }))).rejects.toBeInstanceOf(
      refusal,
    );
  });

  test("a role reads its own secret only, named by name or ARN", async () => {
    const [own, other] = [await newSecret(), await newSecret()];
    const arn = system.secrets.arnOf(own) ?? "";
    const caller = system.caller("tokenreader", ["secretsmanager:GetSecretValue", arn]);
    const { secrets } = clients(system, caller);
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
});

describe("creating", () => {
  test("a name is used once", async () => {
    const Name = await newSecret();
    await expect(client.send(new CreateSecretCommand({ Name }))).rejects.toBeInstanceOf(
      ResourceExistsException,
    );
  });

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
