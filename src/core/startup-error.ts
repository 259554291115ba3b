/** A startup failure that the operator can fix: printed as it is, without a stack, exit code 1. */
export class StartupError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StartupError';
  }
}
