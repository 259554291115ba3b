import { describe, expect, test } from 'bun:test';
import { AppError, ERROR_CATALOGUE, type ErrorCode, invalidField } from '@/core/error.ts';

/** What clients rely on: a code never changes its status. */
const DOCUMENTED: Record<number, string> = {
  400: 'invalid_request invalid_cursor code_invalid code_expired code_exhausted passkey_unknown passkey_invalid authorization_pending slow_down expired_token access_denied invalid_client unauthorized_client invalid_grant unsupported_grant_type',
  401: 'unauthenticated invalid_token expired revoked invalid_api_key',
  403: 'admin_scope_required forbidden user_deleted email_archived gate_closed waitlist application_archived membership_blocked reauthentication_required email_unverified',
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
  test.each(CODES)('answers %s with the documented status', (code) => {
    const { status } = ERROR_CATALOGUE[code];
    expect(DOCUMENTED[status]?.split(' ')).toContain(code);
  });

  test.each(CODES)('says in one sentence what to do about %s', (code) => {
    expect(ERROR_CATALOGUE[code].message).toMatch(/^[A-Z][^\n]{10,119}\.$/);
  });
});

describe('AppError', () => {
  test('takes status and sentence from the catalogue', () => {
    const error = new AppError('not_found');
    expect(error).toBeInstanceOf(Error);
    expect([error.code, error.status, error.message]).toEqual(['not_found', 404, ERROR_CATALOGUE.not_found.message]);
    expect([error.fields, error.retryAfterSeconds, error.cause]).toEqual([undefined, undefined, undefined]);
  });

  test('carries a more exact remedy, the wait and the cause', () => {
    const cause = new Error('inner');
    const error = new AppError('rate_limited', { message: 'Wait.', retryAfterSeconds: 7, cause });
    expect([error.message, error.retryAfterSeconds, error.cause]).toEqual(['Wait.', 7, cause]);
  });

  test('names a refused field', () => {
    const error = invalidField('emails.3', 'Give an e-mail address.');
    expect([error.code, error.fields]).toEqual([
      'invalid_request',
      [{ path: 'emails.3', message: 'Give an e-mail address.' }],
    ]);
  });
});
