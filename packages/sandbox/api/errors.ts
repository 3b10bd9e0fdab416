/** An error answer: thrown by routes, sent as `{"error": code, "message": text}`. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function notFound(message: string): ApiError {
  return new ApiError(404, "not_found", message);
}

/** Runs an action, and answers 400 with the reason if it throws. */
export function asked<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(400, "invalid_request", error instanceof Error ? error.message : String(error));
  }
}
