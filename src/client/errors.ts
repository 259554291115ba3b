/** What can go wrong, as classes that a `catch` can tell apart. */

/** Every error of this package. */
export class GatehouseError extends Error {
  /** For programs; stays the same. */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** No answer came: the server is out of reach, or was too slow. */
export class Unreachable extends GatehouseError {
  declare readonly code: 'network' | 'timeout';
}

/** One refused part of a request. */
export interface FieldError {
  /** Where it stands, such as `emails.3`. */
  readonly path: string;
  readonly message: string;
}

/** The server refused a call; `code` is its error code. */
export class ApiError extends GatehouseError {
  readonly status: number;
  readonly fields: readonly FieldError[];
  readonly requestId: string | undefined;
  /** When to try again, where the server says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: string,
    message: string,
    about: {
      readonly status: number;
      readonly fields?: readonly FieldError[];
      readonly requestId?: string | undefined;
      readonly retryAfterSeconds?: number | undefined;
    },
  ) {
    super(code, message);
    this.status = about.status;
    this.fields = about.fields ?? [];
    this.requestId = about.requestId;
    this.retryAfterSeconds = about.retryAfterSeconds;
  }
}
