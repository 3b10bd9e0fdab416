import { randomInt } from "node:crypto";
import { z } from "zod";
import { boolean, number } from "../assembly/properties.ts";

/** Properties of GenerateSecretString of `AWS::SecretsManager::Secret`. */
export const generationRules = z.strictObject({
  SecretStringTemplate: z.string().optional(),
  GenerateStringKey: z.string().optional(),
  PasswordLength: number.optional(),
  ExcludePunctuation: boolean.optional(),
});
export type GenerateSecretString = z.output<typeof generationRules>;

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

const alphanumeric = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"];
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/** Has a character of each type. */
function generatePassword({ PasswordLength: length = 32, ExcludePunctuation }: GenerateSecretString): string {
  const types = ExcludePunctuation === true ? alphanumeric : [...alphanumeric, punctuation];
  if (length < types.length || length > 4096) {
    throw new Error(`GenerateSecretString can't be met: ${length} characters of ${types.length} types`);
  }
  const others = Array.from({ length: length - types.length }, () => pick(types.join("")));
  return shuffle([...types.map(pick), ...others]).join("");
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
