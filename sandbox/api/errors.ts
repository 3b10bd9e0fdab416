/** An answer that says no: thrown by routes, sent as `{"error": code, "message": text}`. */
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
