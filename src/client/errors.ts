/** Base class of every error of this package. */
export class GatehouseError extends Error {
  /** Stable, machine-readable code. */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** No response arrived: the server is unreachable or too slow. */
export class Unreachable extends GatehouseError {
  declare readonly code: 'network' | 'timeout';
}

export interface FieldError {
  /** Path of the field, such as `emails.3`. */
  readonly path: string;
  readonly message: string;
}

/** The server refused a call; `code` is its error code. */
export class ApiError extends GatehouseError {
  readonly status: number;
  readonly fields: readonly FieldError[];
  readonly requestId: string | undefined;
  /** Seconds until a retry makes sense, if the server says so. */
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
