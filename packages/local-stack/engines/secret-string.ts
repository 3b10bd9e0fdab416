import { randomInt } from "node:crypto";
import { z } from "zod";
import { boolean, number } from "../assembly/properties.ts";

/** Properties of GenerateSecretString of `AWS::SecretsManager::Secret`. */
export const generationRules = z.strictObject({
  SecretStringTemplate: z.string().optional(),
  GenerateStringKey: z.string().optional(),
  PasswordLength: number.optional(),
  ExcludeCharacters: z.string().optional(),
  ExcludePunctuation: boolean.optional(),
  ExcludeUppercase: boolean.optional(),
  ExcludeLowercase: boolean.optional(),
  ExcludeNumbers: boolean.optional(),
  IncludeSpace: boolean.optional(),
  RequireEachIncludedType: boolean.optional(),
});
export type GenerateSecretString = z.output<typeof generationRules>;

const defaultLength = 32;

/**
 * Generates a secret's value: a password, or the template's JSON with the password under its key.
 * Source: CloudFormation reference, AWS::SecretsManager::Secret GenerateSecretString.
 */
export function generateSecretString(rules: GenerateSecretString): string {
  const password = generatePassword(rules);
  const { SecretStringTemplate: template, GenerateStringKey: key } = rules;
  if (template === undefined && key === undefined) return password;
  if (template === undefined || key === undefined) {
    throw new Error("GenerateSecretString needs SecretStringTemplate and GenerateStringKey together");
  }
  const parsed: unknown = JSON.parse(template);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new Error("GenerateSecretString: SecretStringTemplate must be a JSON object");
  }
  return JSON.stringify({ ...parsed, [key]: password });
}

function generatePassword(rules: GenerateSecretString): string {
  const length = rules.PasswordLength ?? defaultLength;
  const types = includedTypes(rules);
  const everything = types.join("");
  if (everything === "" || length < 1 || length > 4096 || (requiresEach(rules) && length < types.length)) {
    throw new Error(`GenerateSecretString can't be met: ${length} characters of ${types.length} types`);
  }
  const required = requiresEach(rules) ? types.map(pick) : [];
  const others = Array.from({ length: length - required.length }, () => pick(everything));
  return shuffle([...required, ...others]).join("");
}

function requiresEach(rules: GenerateSecretString): boolean {
  return rules.RequireEachIncludedType ?? true;
}

function includedTypes(rules: GenerateSecretString): string[] {
  const excluded = rules.ExcludeCharacters ?? "";
  return [
    rules.ExcludeLowercase ? "" : "abcdefghijklmnopqrstuvwxyz",
    rules.ExcludeUppercase ? "" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    rules.ExcludeNumbers ? "" : "0123456789",
    rules.ExcludePunctuation ? "" : "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    rules.IncludeSpace ? " " : "",
  ]
    .map((type) => [...type].filter((character) => !excluded.includes(character)).join(""))
    .filter((type) => type !== "");
}

function pick(characters: string): string {
  return characters.charAt(randomInt(characters.length));
}

function shuffle(characters: readonly string[]): string[] {
  return characters.reduce<string[]>((shuffled, character) => {
    shuffled.splice(randomInt(shuffled.length + 1), 0, character);
    return shuffled;
  }, []);
}
