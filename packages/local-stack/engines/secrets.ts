import { randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import { type GenerateSecretString, generateSecretString } from "./secret-string.ts";

export type { GenerateSecretString } from "./secret-string.ts";

/** A refusal in the service's own terms. */
export class SecretsError extends Error {
  override readonly name: string;

  constructor(name: SecretsErrorName, message: string) {
    super(message);
    this.name = name;
  }
}

type SecretsErrorName =
  | "InvalidParameterException"
  | "InvalidRequestException"
  | "ResourceExistsException"
  | "ResourceNotFoundException"
  | "UnknownOperationException"
  | "ValidationException";

export type SecretsEngine = {
  /** Creates a secret as CloudFormation does; answers its ARN (with the random suffix). */
  create(secret: {
    readonly name: string;
    readonly secretString?: string;
    readonly generate?: GenerateSecretString;
  }): { readonly arn: string };
  /** The ARN of a secret named by its name, its ARN or its ARN without the suffix. */
  arnOf(secretId: string): string | undefined;
  /** Runs one operation of the service's JSON interface. @throws SecretsError in the service's terms */
  call(operation: string, input: unknown): Readonly<Record<string, unknown>>;
};

export type SecretsEngineOptions = {
  readonly region: string;
  readonly account: string;
  readonly now?: () => Date;
};

type Version = {
  readonly id: string;
  readonly value: string;
  readonly created: Date;
  readonly stages: Set<string>;
};
type Secret = {
  readonly arn: string;
  readonly name: string;
  readonly created: Date;
  readonly versions: Map<string, Version>;
};

const current = "AWSCURRENT";
const previous = "AWSPREVIOUS";

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
  ListSecretVersionIds: z.object({ SecretId: secretId, IncludeDeprecated: z.boolean().optional() }),
};

/**
 * A stand-in for Secrets Manager, in memory: versions and their staging labels as the service keeps them.
 * Source: Secrets Manager API reference, the operation of each name.
 */
export function createSecretsEngine(options: SecretsEngineOptions): SecretsEngine {
  const now = options.now ?? (() => new Date());
  const secrets = new Map<string, Secret>();

  function create(name: string, secretString: string | undefined, token: string | undefined): Secret {
    if (secrets.has(name)) {
      throw new SecretsError("ResourceExistsException", `The secret ${name} already exists.`);
    }
    const suffix = randomBytes(3).toString("hex");
    const arn = `arn:aws:secretsmanager:${options.region}:${options.account}:secret:${name}-${suffix}`;
    const secret: Secret = { arn, name, created: now(), versions: new Map() };
    secrets.set(name, secret);
    if (secretString !== undefined) addVersion(secret, token ?? randomUUID(), secretString, [current], now());
    return secret;
  }

  function lookUp(id: string): Secret | undefined {
    return (
      secrets.get(id) ??
      [...secrets.values()].find(({ arn }) => arn === id || arn.slice(0, -"-xxxxxx".length) === id)
    );
  }

  function find(id: string): Secret {
    const secret = lookUp(id);
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
      const existing = secret.versions.get(id);
      if (existing !== undefined && existing.value !== request.SecretString) throw versionExists(id);
      const version =
        existing ?? addVersion(secret, id, request.SecretString, request.VersionStages ?? [current], now());
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
      const versions = [...secret.versions.values()].filter(({ stages }) => stages.size > 0);
      return {
        ARN: secret.arn,
        Name: secret.name,
        CreatedDate: seconds(secret.created),
        VersionIdsToStages: Object.fromEntries(versions.map(({ id, stages }) => [id, [...stages]])),
      };
    },
    ListSecretVersionIds: (input) => {
      const request = parse(inputs.ListSecretVersionIds, input);
      const secret = find(request.SecretId);
      const versions = [...secret.versions.values()].filter(
        ({ stages }) => stages.size > 0 || request.IncludeDeprecated === true,
      );
      return {
        ARN: secret.arn,
        Name: secret.name,
        Versions: versions.map(({ id, stages, created }) => ({
          VersionId: id,
          VersionStages: [...stages],
          CreatedDate: seconds(created),
        })),
      };
    },
  };

  return {
    create: ({ name, secretString, generate }) => {
      const generated = generate === undefined ? undefined : generateSecretString(generate);
      return { arn: create(name, secretString ?? generated, undefined).arn };
    },
    arnOf: (id) => lookUp(id)?.arn,
    call: (operation, input) => {
      const run = Object.entries(operations).find(([name]) => name === operation)?.[1];
      if (run === undefined) {
        throw new SecretsError(
          "UnknownOperationException",
          `The local stand-in has no operation ${operation}`,
        );
      }
      return run(input);
    },
  };
}

function parse<Shape>(schema: z.ZodType<Shape>, input: unknown): Shape {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  // Paths and rules only: a message of the service never carries the secret's value either.
  const issues = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new SecretsError(
    "ValidationException",
    `${issues.length} validation error detected: ${issues.join("; ")}`,
  );
}

function addVersion(
  secret: Secret,
  id: string,
  text: string,
  stages: readonly string[],
  created: Date,
): Version {
  const version: Version = { id, value: text, created, stages: new Set() };
  const isFirst = secret.versions.size === 0;
  secret.versions.set(id, version);
  for (const label of isFirst ? new Set([current, ...stages]) : stages) moveLabel(secret, label, version);
  return version;
}

function readVersion(secret: Secret, id: string | undefined, label: string | undefined): Version {
  if (id === undefined) {
    const version = labelled(secret, label ?? current);
    if (version === undefined)
      throw notFound(`the specified secret value for staging label: ${label ?? current}`);
    return version;
  }
  const version = secret.versions.get(id);
  if (version === undefined) throw notFound(`the specified secret value for VersionId: ${id}`);
  if (label !== undefined && !version.stages.has(label)) {
    throw new SecretsError(
      "InvalidRequestException",
      "You provided a VersionStage that is not associated to the provided VersionId.",
    );
  }
  return version;
}

/** The compare-and-swap that a token's promotion relies on: the version that loses the label must be named. */
function updateStage(
  secret: Secret,
  label: string,
  moveTo: string | undefined,
  removeFrom: string | undefined,
): void {
  const holder = labelled(secret, label);
  const target = moveTo === undefined ? undefined : secret.versions.get(moveTo);
  if (moveTo !== undefined && target === undefined)
    throw notFound(`the specified secret value for VersionId: ${moveTo}`);
  if (removeFrom !== undefined && removeFrom !== holder?.id) {
    throw invalid(
      `The parameter RemoveFromVersionId is not valid. Staging label ${label} is ` +
        `${holder === undefined ? "attached to no version" : `currently attached to version ${holder.id}`}.`,
    );
  }
  if (target === undefined) {
    if (holder === undefined || removeFrom === undefined)
      throw invalid("You must name a version to move the label to.");
    if (label === current) {
      throw invalid(
        `You can only move staging label ${current} to a different secret version. It can't be completely removed.`,
      );
    }
    holder.stages.delete(label);
    return;
  }
  if (holder !== undefined && holder !== target && removeFrom === undefined) {
    throw invalid(
      `The parameter RemoveFromVersionId can't be empty. Staging label ${label} is currently attached to version ` +
        `${holder.id}, so you must explicitly reference that version in RemoveFromVersionId.`,
    );
  }
  moveLabel(secret, label, target);
}

/** A label is on one version at a time; whoever loses AWSCURRENT becomes AWSPREVIOUS. */
function moveLabel(secret: Secret, label: string, target: Version): void {
  const holder = labelled(secret, label);
  if (holder === target) return;
  holder?.stages.delete(label);
  target.stages.add(label);
  if (label === current && holder !== undefined) moveLabel(secret, previous, holder);
}

function labelled(secret: Secret, label: string): Version | undefined {
  return [...secret.versions.values()].find(({ stages }) => stages.has(label));
}

function describeVersion(secret: Secret, version: Version): Readonly<Record<string, unknown>> {
  return { ARN: secret.arn, Name: secret.name, VersionId: version.id, VersionStages: [...version.stages] };
}

function seconds(date: Date): number {
  return date.getTime() / 1000;
}

function notFound(what: string): SecretsError {
  return new SecretsError("ResourceNotFoundException", `Secrets Manager can't find ${what}.`);
}

function versionExists(id: string): SecretsError {
  return new SecretsError(
    "ResourceExistsException",
    `The version ${id} already exists with another value: a version can't be changed, only a new one created.`,
  );
}

function invalid(message: string): SecretsError {
  return new SecretsError("InvalidParameterException", message);
}
