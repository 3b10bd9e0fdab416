/** What `AWS::SecretsManager::Secret`'s GenerateSecretString says, in the template's spelling. */
export type GenerateSecretString = {
  readonly SecretStringTemplate?: string;
  readonly GenerateStringKey?: string;
  readonly PasswordLength?: number;
  readonly ExcludeCharacters?: string;
  readonly ExcludePunctuation?: boolean;
  readonly ExcludeUppercase?: boolean;
  readonly ExcludeLowercase?: boolean;
  readonly ExcludeNumbers?: boolean;
  readonly IncludeSpace?: boolean;
  readonly RequireEachIncludedType?: boolean;
};

export type SecretsEngine = {
  /** Creates a secret as CloudFormation does; answers its ARN (with the random suffix). */
  create(secret: {
    readonly name: string;
    readonly secretString?: string;
    readonly generate?: GenerateSecretString;
  }): { readonly arn: string; readonly versionId: string };
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

export function createSecretsEngine(options: SecretsEngineOptions): SecretsEngine {
  throw new Error(`the stand-in for ${options.region} is not built yet`);
}
