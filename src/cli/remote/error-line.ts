/** Describes a failed call, in one line with what to do about it, and as data. */
import { ApiError, GatehouseError, Unreachable } from '../../client/errors.ts';
import type { CommandFailure } from '../failure.ts';
import type { Target } from './target.ts';
import { printable } from '../sanitize.ts';

/** Returns null for a bug of ours. */
export function failureOfCall(
  error: unknown,
  target: Pick<Target, 'url'> & Partial<Target>,
): { readonly data: CommandFailure; readonly words: string } | null {
  if (!(error instanceof GatehouseError)) return null;
  const { code, message } = error;
  if (error instanceof Unreachable) {
    const words = `${target.url} ${code === 'timeout' ? 'does not answer' : 'cannot be reached'}. Is the server running, and is this its address?`;
    return { data: { error: code, message: words }, words };
  }
  if (!(error instanceof ApiError)) return { data: { error: code, message }, words: message };
  const { status, fields, requestId, retryAfterSeconds } = error;
  const data = {
    error: code,
    message,
    status,
    ...(fields.length > 0 && { fields }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
  return { data, words: apiLine(error, target) };
}

function apiLine(error: ApiError, { url, origin }: Partial<Target>): string {
  const { status, message, fields, requestId, code, retryAfterSeconds } = error;
  const details = fields.map(({ path, message: problem }) => `${path}: ${problem}`);
  const remedy =
    status === 401
      ? `The key of ${origin ?? 'this login'} is not accepted any more. Log in again: gatehouse login --url ${url}`
      : status === 429 && retryAfterSeconds !== undefined
        ? `Try again in ${retryAfterSeconds} s.`
        : '';
  const said = details.length > 0 ? details : [message];
  const reference = requestId ? `${code}, request ${requestId}` : code;
  const parts = [...said, remedy].filter(Boolean);
  return printable(`${parts.map(sentence).join(' ')} (${reference})`);
}

function sentence(text: string): string {
  return /[.!?…)]$/.test(text.trim()) || text.includes('gatehouse login') ? text.trim() : `${text.trim()}.`;
}
