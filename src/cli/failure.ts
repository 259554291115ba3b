/** Writes why a command failed: for people in words, with `--json` as JSON. */
import { jsonText, printableLines } from './sanitize.ts';

/** Error in the words of the API, as far as it is one. */
export interface CommandFailure {
  /** `usage` for a wrong command line, `failed` for what has no code of the API. */
  readonly error: string;
  readonly message: string;
  readonly status?: number;
  readonly fields?: readonly { readonly path: string; readonly message: string }[];
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

/** @param words for people, who see them instead of the failure's message; the message by default. */
export function commandFailureText(failure: CommandFailure, isJson: boolean, words = failure.message): string {
  return isJson ? `${jsonText(failure)}\n` : `gatehouse: ${printableLines(words)}\n`;
}
