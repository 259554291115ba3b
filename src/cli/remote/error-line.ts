/** Describes a failed call in one line, with what to do about it. */
import { ApiError, GatehouseError, Unreachable } from '../../client/errors.ts';
import type { Target } from './target.ts';
import { printable } from '../sanitize.ts';

/** Returns null for a bug of ours. */
export function failureLine(error: unknown, target: Pick<Target, 'url'> & Partial<Target>): string | null {
  if (error instanceof Unreachable)
    return `${target.url} ${error.code === 'timeout' ? 'does not answer' : 'cannot be reached'}. Is the server running, and is this its address?`;
  if (error instanceof ApiError) return apiLine(error, target);
  return error instanceof GatehouseError ? error.message : null;
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
