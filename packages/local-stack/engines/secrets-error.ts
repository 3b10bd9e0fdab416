/** An error with the service's name and wording. */
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

export function notFound(what: string): SecretsError {
  return new SecretsError("ResourceNotFoundException", `Secrets Manager can't find ${what}.`);
}

export function invalid(message: string): SecretsError {
  return new SecretsError("InvalidParameterException", message);
}
