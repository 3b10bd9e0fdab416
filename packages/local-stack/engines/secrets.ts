import { randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import type { SecretPlan } from "../assembly/plan.ts";
import type { KeptJson } from "./kept.ts";
import { generateSecretString } from "./secret-string.ts";
import {
  addVersion,
  current,
  describeVersion,
  keptSecret,
  labelled,
  readVersion,
  type Secret,
  updateStage,
  versionOf,
} from "./secret-versions.ts";
import { notFound, SecretsError } from "./secrets-error.ts";

export type SecretsEngine = ReturnType<typeof createSecretsEngine>;

export type SecretsEngineOptions = {
  readonly region: string;
  readonly account: string;
  readonly now?: () => Date;
  /** Persistent storage of secrets; absent: in memory. */
  readonly kept?: KeptJson;
};

const secretId = z.string().min(1).max(2048);
const versionId = z.string().min(32).max(64);
const stage = z.string().min(1).max(256);
const value = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= 65_536, "longer than 65536 bytes");
const inputs = {
  CreateSecret: z.object({
    Name: z.string().regex(/^[A-Za-z0-9/_+=.@-]{1,512}$/),
    SecretString: value.optional(),
    ClientRequestToken: versionId.optional(),
  }),
  GetSecretValue: z.object({
    SecretId: secretId,
    VersionId: versionId.optional(),
    VersionStage: stage.optional(),
  }),
  PutSecretValue: z.object({
    SecretId: secretId,
    SecretString: value,
    ClientRequestToken: versionId.optional(),
    VersionStages: z.array(stage).min(1).max(20).optional(),
  }),
  UpdateSecretVersionStage: z.object({
    SecretId: secretId,
    VersionStage: stage,
    MoveToVersionId: versionId.optional(),
    RemoveFromVersionId: versionId.optional(),
  }),
  DescribeSecret: z.object({ SecretId: secretId }),
};

/**
 * In-memory Secrets Manager with versions and staging labels.
 * Source: Secrets Manager API reference, the operation of each name.
 */
export function createSecretsEngine(options: SecretsEngineOptions) {
  const now = options.now ?? (() => new Date());
  const secrets = new Map(
    z
      .array(keptSecret)
      .parse(options.kept?.load() ?? [])
      .map((secret) => [secret.name, secret]),
  );
  const keep = () => options.kept?.save([...secrets.values()]);

  function create(name: string, secretString: string | undefined, token: string | undefined): Secret {
    if (secrets.has(name)) {
      throw new SecretsError("ResourceExistsException", `The secret ${name} already exists.`);
    }
    const suffix = randomBytes(3).toString("hex");
    const arn = `arn:aws:secretsmanager:${options.region}:${options.account}:secret:${name}-${suffix}`;
    const secret: Secret = { arn, name, created: now(), versions: [] };
    secrets.set(name, secret);
    if (secretString !== undefined) {
      addVersion(secret, { id: token ?? randomUUID(), value: secretString, created: now() }, [current]);
    }
    return secret;
  }

  function find(id: string): Secret {
    const secret = lookUp(secrets, id);
    if (secret === undefined) throw notFound("the specified secret");
    return secret;
  }

  const operations: Record<keyof typeof inputs, (input: unknown) => Readonly<Record<string, unknown>>> = {
    CreateSecret: (input) => {
      const { Name, SecretString, ClientRequestToken } = parse(inputs.CreateSecret, input);
      const secret = create(Name, SecretString, ClientRequestToken);
      return { ARN: secret.arn, Name, VersionId: labelled(secret, current)?.id };
    },
    GetSecretValue: (input) => {
      const request = parse(inputs.GetSecretValue, input);
      const secret = find(request.SecretId);
      const version = readVersion(secret, request.VersionId, request.VersionStage);
      return {
        ...describeVersion(secret, version),
        SecretString: version.value,
        CreatedDate: seconds(version.created),
      };
    },
    PutSecretValue: (input) => {
      const request = parse(inputs.PutSecretValue, input);
      const secret = find(request.SecretId);
      const id = request.ClientRequestToken ?? randomUUID();
      const existing = versionOf(secret, id);
      if (existing !== undefined && existing.value !== request.SecretString) {
        throw new SecretsError(
          "ResourceExistsException",
          `The version ${id} already exists with another value: a version can't be changed, only a new one created.`,
        );
      }
      const added = { id, value: request.SecretString, created: now() };
      const version = existing ?? addVersion(secret, added, request.VersionStages ?? [current]);
      return describeVersion(secret, version);
    },
    UpdateSecretVersionStage: (input) => {
      const request = parse(inputs.UpdateSecretVersionStage, input);
      const secret = find(request.SecretId);
      updateStage(secret, request.VersionStage, request.MoveToVersionId, request.RemoveFromVersionId);
      return { ARN: secret.arn, Name: secret.name };
    },
    DescribeSecret: (input) => {
      const secret = find(parse(inputs.DescribeSecret, input).SecretId);
      const versions = secret.versions.filter(({ stages }) => stages.length > 0);
      return {
        ARN: secret.arn,
        Name: secret.name,
        CreatedDate: seconds(secret.created),
        VersionIdsToStages: Object.fromEntries(versions.map(({ id, stages }) => [id, [...stages]])),
      };
    },
  };

  return {
    /** Creates a secret as CloudFormation does; returns its ARN (with the random suffix). */
    create: ({
      name,
      secretString,
      generate,
    }: Pick<SecretPlan, "name" | "secretString" | "generate">): { readonly arn: string } => {
      // Redeploying a stack keeps the values of its secrets.
      const known = options.kept && secrets.get(name);
      if (known !== undefined) return { arn: known.arn };
      const generated = generate === undefined ? undefined : generateSecretString(generate);
      const { arn } = create(name, secretString ?? generated, undefined);
      keep();
      return { arn };
    },
    /** Resolves a name, an ARN, or an ARN without the suffix to the secret's ARN. */
    arnOf: (id: string) => lookUp(secrets, id)?.arn,
    /**
     * Runs one operation of the service's JSON protocol.
     * @throws SecretsError with the service's errors
     */
    call: (operation: string, input: unknown): Readonly<Record<string, unknown>> => {
      const run = Object.entries(operations).find(([name]) => name === operation)?.[1];
      if (run === undefined) {
        throw new SecretsError(
          "UnknownOperationException",
          `The local stand-in has no operation ${operation}`,
        );
      }
      const answer = run(input);
      if (!/^(Get|Describe)/.test(operation)) keep();
      return answer;
    },
  };
}

function lookUp(secrets: ReadonlyMap<string, Secret>, id: string): Secret | undefined {
  return (
    secrets.get(id) ??
    [...secrets.values()].find(({ arn }) => arn === id || arn.slice(0, -"-xxxxxx".length) === id)
  );
}

function parse<Shape>(schema: z.ZodType<Shape>, input: unknown): Shape {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  // Only paths and rules: errors must not contain the secret's value.
  const issues = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new SecretsError(
    "ValidationException",
    `${issues.length} validation error detected: ${issues.join("; ")}`,
  );
}

function seconds(date: Date): number {
  return date.getTime() / 1000;
}
