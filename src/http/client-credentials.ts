/** Reads an OAuth client's credential: in a header, in the body (RFC 6749 §2.3.1), or an API key as bearer token. */
import { invalidField } from '../core/error.ts';

export type ClientShown =
  | { readonly way: 'basic' | 'post'; readonly clientId: string; readonly secret: string }
  | { readonly way: 'key'; readonly key: string };

/** Reads the credential; a header takes precedence over the body. @returns null where there is none. */
export function clientShown(authorization: string | null, sent: unknown): ClientShown | null {
  if (authorization === null) return shownInBody(sent);
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { way: 'key', key: value };
  return scheme.toLowerCase() === 'basic' ? shownInHeader(value) : null;
}

/** Returns the challenge: the scheme that was used (RFC 6749 §5.2), else Basic, which all clients have. */
export function challengeOf(shown: ClientShown | null): string {
  return shown?.way === 'key' ? 'Bearer' : 'Basic realm="gatehouse"';
}

/**
 * Refuses a second credential or client in one call (RFC 6749 §2.3). Next to an API key any clientId may be sent.
 *
 * @throws {AppError} invalid_request
 */
export function refuseSecondWay(shown: ClientShown, sent: unknown): void {
  if (shown.way === 'post') return;
  if (textOf(sent, 'client_secret') !== null)
    throw invalidField('client_secret', 'Send the credential once: in the header, or here.');
  const clientId = textOf(sent, 'client_id');
  if (shown.way === 'basic' && clientId !== null && clientId !== shown.clientId)
    throw invalidField('client_id', 'The header names another client; leave this out.');
}

function shownInBody(sent: unknown): ClientShown | null {
  const [clientId, secret] = [textOf(sent, 'client_id'), textOf(sent, 'client_secret')];
  return clientId === null || secret === null ? null : { way: 'post', clientId, secret };
}

function shownInHeader(value: string): ClientShown | null {
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const [clientId, secret] = [formDecoded(text.slice(0, colon)), formDecoded(text.slice(colon + 1))];
  return colon < 0 || clientId === null || secret === null ? null : { way: 'basic', clientId, secret };
}

/** Returns null for a missing or an empty parameter, which are the same (RFC 6749 §3.1). */
function textOf(sent: unknown, name: string): string | null {
  const value: unknown = (sent as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Decodes one part of a Basic credential; both are form-encoded before they are joined. */
function formDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
