import type { SecretsEngine } from "../engines/secrets.ts";
import { asString, type JsonObject, type Operation } from "./operation.ts";

/** An operation on a secret, which may be named by its name or its ARN. */
export function secretsManagerOperation(
  name: string,
  input: JsonObject,
  secrets: SecretsEngine,
  scope: { readonly region: string; readonly account: string },
): Operation {
  const action = `secretsmanager:${name}`;
  const id = asString(input.SecretId) || asString(input.Name);
  const prefix = `arn:aws:secretsmanager:${scope.region}:${scope.account}:secret:`;
  const resource = secrets.arnOf(id) ?? (id.startsWith("arn:") ? id : prefix + id);
  return { service: "secretsmanager", action, needs: [{ action, resource }] };
}
