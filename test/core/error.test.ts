import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { AppError, ERROR_CATALOGUE, type ErrorCode, invalidField } from '@/core/error.ts';
import { type Hint, HINTS } from '@/core/error-hints.ts';

const SRC = join(import.meta.dir, '../../src');

/** The statuses that clients rely on. A code never changes its status. */
const DOCUMENTED: Record<number, string> = {
  400: 'invalid_request invalid_cursor code_invalid code_expired code_exhausted passkey_unknown passkey_invalid authorization_pending slow_down expired_token access_denied invalid_client unauthorized_client invalid_grant unsupported_grant_type unsupported_token_type invalid_scope invalid_redirect_uri',
  401: 'unauthenticated invalid_token expired revoked invalid_api_key',
  403: 'admin_scope_required forbidden user_deleted email_archived gate_closed waitlist application_archived membership_blocked reauthentication_required email_unverified link_required insufficient_scope',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict invalid_state key_revoked membership_locked already_in_grace code_consumed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  500: 'internal',
  502: 'provider_failed',
  503: 'unavailable',
};
const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

describe('the error catalogue', () => {
  test.each(CODES)('gives %s its documented status', (code) => {
    const { status } = ERROR_CATALOGUE[code];
    expect(DOCUMENTED[status]?.split(' ')).toContain(code);
  });

  test.each(CODES)('has one sentence with a remedy for %s', (code) => {
    expect(ERROR_CATALOGUE[code].message).toMatch(/^[A-Z][^\n]{10,119}\.$/);
  });
});

describe('the error hints', () => {
  const entries = Object.entries(HINTS) as [Hint, string][];

  test.each(entries)('%s is one short sentence: %s', (_, sentence) => {
    expect(sentence).toMatch(/^[A-Z][^\n]{10,119}\.$/);
  });

  test('are unique, and none has the name or the sentence of an error code', () => {
    const ofCodes = new Set<string>(CODES.map((code) => ERROR_CATALOGUE[code].message));
    expect(new Set(Object.values(HINTS)).size).toBe(entries.length);
    expect(entries.filter(([hint, sentence]) => hint in ERROR_CATALOGUE || ofCodes.has(sentence))).toEqual([]);
  });

  test('are all used in the source', async () => {
    const files = new Bun.Glob('**/*.ts').scanSync(SRC);
    const texts = await Promise.all(
      [...files].filter((file) => file !== 'core/error-hints.ts').map((file) => Bun.file(join(SRC, file)).text()),
    );
    const source = texts.join('\n');
    // Matches templates such as `device_${status}`.
    const patterns = [...source.matchAll(/hint: `([^`]*)`/g)].map(
      ([, template]) => new RegExp(`^${template!.replace(/\$\{[^}]*\}/g, '[a-z]+')}$`),
    );
    const isGiven = ([hint]: [Hint, string]) =>
      source.includes(`'${hint}'`) || patterns.some((pattern) => pattern.test(hint));
    expect(entries.filter((entry) => !isGiven(entry))).toEqual([]);
  });
});

describe('AppError', () => {
  test('takes status and message from the catalogue', () => {
    const error = new AppError('not_found');
    expect(error).toBeInstanceOf(Error);
    expect([error.code, error.status, error.message]).toEqual(['not_found', 404, ERROR_CATALOGUE.not_found.message]);
    expect([error.fields, error.retryAfterSeconds, error.cause]).toEqual([undefined, undefined, undefined]);
  });

  test('carries a hint, a wait and a cause', () => {
    const cause = new Error('inner');
    const error = new AppError('rate_limited', { hint: 'codes_paused', retryAfterSeconds: 7, cause });
    expect([error.message, error.retryAfterSeconds, error.cause]).toEqual([HINTS.codes_paused, 7, cause]);
    expect([error.hint, new AppError('rate_limited').hint]).toEqual(['codes_paused', undefined]);
  });

  test('fills the placeholders of a hint, and does not expand the values', () => {
    const error = new AppError('invalid_state', { hint: 'user_status', values: { status: '{action}', action: 'ban' } });
    expect(error.message).toBe('Not possible for a user who is {action}: ban.');
  });

  test('uses the message of another code as a hint', () => {
    expect(new AppError('unauthenticated', { hint: 'expired' }).message).toBe(ERROR_CATALOGUE.expired.message);
  });

  test('accepts only messages from the catalogue, known hints, and exactly their values', () => {
    // @ts-expect-error: messages come from the catalogue.
    new AppError('conflict', { message: 'Wait.' });
    // @ts-expect-error: the hint does not exist.
    expect(() => new AppError('conflict', { hint: 'nothing' })).toThrow();
    // @ts-expect-error: the values are missing.
    new AppError('conflict', { hint: 'grant_slug_taken' });
    // @ts-expect-error: a value is missing.
    new AppError('invalid_state', { hint: 'user_status', values: { status: 'banned' } });
    // @ts-expect-error: this message has no values.
    new AppError('conflict', { hint: 'username_taken', values: { max: 1 } });
  });

  test('names a refused field', () => {
    const error = invalidField('emails.3', 'Give an e-mail address.');
    expect([error.code, error.fields]).toEqual([
      'invalid_request',
      [{ path: 'emails.3', message: 'Give an e-mail address.' }],
    ]);
  });
});
