import type { SecretsEngine } from "../engines/secrets.ts";
import { asString, type JsonObject, type Operation, type Place } from "./operation.ts";

/** An operation on a secret, which may be named by its name or its ARN. */
export function secretsManagerOperation(
  name: string,
  input: JsonObject,
  secrets: SecretsEngine,
  scope: Place,
): Operation {
  const action = `secretsmanager:${name}`;
  const id = asString(input.SecretId) || asString(input.Name);
  const prefix = `arn:aws:secretsmanager:${scope.region}:${scope.account}:secret:`;
  const resource = secrets.arnOf(id) ?? (id.startsWith("arn:") ? id : prefix + id);
  return { service: "secretsmanager", action, needs: [{ action, resource }] };
}
